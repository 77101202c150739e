"""Training loops: monitored sessions and their hooks, supervisors, threads that stop together, event files.

coordinator         stopping threads together
device_setter       variables on parameter servers, everything else on workers
events              writers of event files: what training reports about itself, as TensorBoard reads it
hooks               hooks: what is done before and after each run of a monitored session
monitored           monitored sessions: hooks around every run, threads that stop together
monitored_training  the usual monitored session of a training program
profiling_hooks     a hook that traces runs
recording_hooks     hooks that write files while a model is trained
roles               what loops ask of the sessions, savers and writers that they are given
scaffold            a scaffold: the operations around a model that a training session needs, resources among them
session_creators    makers of sessions for monitored ones
session_events      events that are written by operations of a session's graph
session_manager     sessions that are ready to train
session_settings    what is said of settings that have no effect here
supervisor          a supervisor: sessions that resume from a folder, and the simplest training loop
supervisor_threads  what the threads of a supervisor do: summarize, count steps, save
timelines           traces of runs: when each operation ran, and the picture of that for Chrome
"""
