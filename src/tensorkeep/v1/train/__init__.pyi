# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.proto.messages import (
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SaverDef, SequenceExample,
)
from tensorkeep.proto.session_config import ClusterDef, JobDef
from tensorkeep.tf1.training.inputs.batching import (
    batch, batch_join, maybe_batch, maybe_batch_join, maybe_shuffle_batch, maybe_shuffle_batch_join, shuffle_batch,
    shuffle_batch_join,
)
from tensorkeep.tf1.training.inputs.input_producers import (
    input_producer, limit_epochs, match_filenames_once, range_input_producer, slice_input_producer,
    string_input_producer,
)
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.tf1.training.loops.coordinator import Coordinator, LooperThread
from tensorkeep.tf1.training.loops.device_setter import ClusterSpec, replica_device_setter
from tensorkeep.tf1.training.loops.events import FileWriter as SummaryWriter
from tensorkeep.tf1.training.loops.hooks import (
    FeedFnHook, FinalOpsHook, GlobalStepWaiterHook, LoggingTensorHook, NanLossDuringTrainingError, NanTensorHook,
    SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues, StopAtStepHook,
)
from tensorkeep.tf1.training.loops.monitored_training import mark_target_node
from tensorkeep.tf1.training.loops.profiling_hooks import ProfilerHook
from tensorkeep.tf1.training.loops.recording_hooks import (
    CheckpointSaverHook, CheckpointSaverListener, StepCounterHook, SummarySaverHook,
)
from tensorkeep.tf1.training.loops.session_creators import SessionCreator
from tensorkeep.tf1.training.loops.supervisor import basic_train_loop
from tensorkeep.tf1.training.objects.object_checkpoints import CheckpointOptions
from tensorkeep.tf1.training.optimizers.base import Optimizer
from tensorkeep.tf1.training.optimizers.decaying import (
    AdagradDecayOptimizer, AdagradDecayOptimizerV2, AdamAsyncOptimizer, AdamWOptimizer,
)
from tensorkeep.tf1.training.optimizers.moving_averages import ExponentialMovingAverage
from tensorkeep.tf1.training.optimizers.replicas import SyncReplicasOptimizer
from tensorkeep.tf1.training.optimizers.schedules import (
    cosine_decay, cosine_decay_restarts, exponential_decay, inverse_time_decay, linear_cosine_decay, natural_exp_decay,
    noisy_linear_cosine_decay, piecewise_constant, piecewise_constant as piecewise_constant_decay, polynomial_decay,
)
from tensorkeep.tf1.training.optimizers.standard import (
    AdadeltaOptimizer, AdagradDAOptimizer, AdagradOptimizer, AdamOptimizer, FtrlOptimizer, GradientDescentOptimizer,
    MomentumOptimizer, ProximalAdagradOptimizer, ProximalGradientDescentOptimizer, RMSPropOptimizer,
)
from tensorkeep.tf1.training.savers.warm_starting import VocabInfo
from tensorkeep.tf1.variables.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step,
)
from tensorkeep.v1.learning.servers import Server
from tensorkeep.v1.learning.training import (
    ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession, Scaffold, SessionManager,
    SingularMonitoredSession, Supervisor, WorkerSessionCreator, start_queue_runners, summary_iterator,
)
from tensorkeep.v1.meta_graph import export_meta_graph, import_meta_graph
from tensorkeep.v1.stored.checkpoints import (
    NewCheckpointReader, checkpoint_exists, checkpoints_iterator, generate_checkpoint_state_proto,
    get_checkpoint_mtimes, get_checkpoint_state, init_from_checkpoint, latest_checkpoint, list_variables,
    load_checkpoint, load_variable, remove_checkpoint, update_checkpoint_state, warm_start,
)
from tensorkeep.v1.stored.graph_defs import write_graph
from tensorkeep.v1.stored.objects import Checkpoint, CheckpointManager
from tensorkeep.v1.stored.saving import Saver
from tensorkeep.v1.train import experimental, queue_runner

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradDecayOptimizer", "AdagradDecayOptimizerV2", "AdagradOptimizer",
    "AdamAsyncOptimizer", "AdamOptimizer", "AdamWOptimizer", "BytesList", "Checkpoint", "CheckpointManager",
    "CheckpointOptions", "CheckpointSaverHook", "CheckpointSaverListener", "ChiefSessionCreator", "ClusterDef",
    "ClusterSpec", "Coordinator", "Example", "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists",
    "Features", "FeedFnHook", "FinalOpsHook", "FloatList", "FtrlOptimizer", "GlobalStepWaiterHook",
    "GradientDescentOptimizer", "Int64List", "JobDef", "LoggingTensorHook", "LooperThread", "MomentumOptimizer",
    "MonitoredSession", "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook",
    "NewCheckpointReader", "Optimizer", "ProfilerHook", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer",
    "QueueRunner", "RMSPropOptimizer", "Saver", "SaverDef", "Scaffold", "SecondOrStepTimer", "SequenceExample",
    "Server", "SessionCreator", "SessionManager", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "SingularMonitoredSession", "StepCounterHook", "StopAtStepHook", "SummarySaverHook",
    "SummaryWriter", "Supervisor", "SyncReplicasOptimizer", "VocabInfo", "WorkerSessionCreator", "add_queue_runner",
    "assert_global_step", "basic_train_loop", "batch", "batch_join", "checkpoint_exists", "checkpoints_iterator",
    "cosine_decay", "cosine_decay_restarts", "create_global_step", "experimental", "exponential_decay",
    "export_meta_graph", "generate_checkpoint_state_proto", "get_checkpoint_mtimes", "get_checkpoint_state",
    "get_global_step", "get_or_create_global_step", "global_step", "import_meta_graph", "init_from_checkpoint",
    "input_producer", "inverse_time_decay", "latest_checkpoint", "limit_epochs", "linear_cosine_decay",
    "list_variables", "load_checkpoint", "load_variable", "mark_target_node", "match_filenames_once", "maybe_batch",
    "maybe_batch_join", "maybe_shuffle_batch", "maybe_shuffle_batch_join", "natural_exp_decay",
    "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay", "queue_runner",
    "range_input_producer", "remove_checkpoint", "replica_device_setter", "shuffle_batch", "shuffle_batch_join",
    "slice_input_producer", "start_queue_runners", "string_input_producer", "summary_iterator",
    "update_checkpoint_state", "warm_start", "write_graph",
]
