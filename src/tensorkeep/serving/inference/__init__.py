"""Answers to requests, whatever protocol they came by.

answers         answers to whole messages, by a request whose model has been found
examples        examples of requests, as the bytes they came in; results of classification and regression
opened          a request whose model has been found and is held: what can be asked of it
plans           how the names of a signature become tensors of a graph, and back
quick_runs      which runs are so quick that handing them to a thread and back would take longer
replaying       requests of logs, answered by a version that is not yet available, and compared with what was logged
running         runs of a model in threads beside the event loop
service         answers to requests for inference, and to questions about models
tensors         tensors of requests as arrays, and arrays as tensors of answers
"""
