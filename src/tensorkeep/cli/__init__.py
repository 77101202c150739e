"""The program `tensorkeep`: looks into model files and works on them.

`start` runs `main`, which finds the command in `catalog` and imports the module that has it.

    changing/        commands that make checkpoints of checkpoints, and keep folders of them in order
    embeddings/      `tensorkeep ev`: embedding tables in checkpoints
    looking/         commands that look at files and change nothing
    models/          `tensorkeep saved-model`, and what checks models: `scan`, `sign`, `check`
    catalog          the commands of the program
    cluster_options  `--cluster`: commands whose work a Ray cluster does
    command          what a command is, and how its arguments are understood
    completion       `tensorkeep completion`: what makes a shell complete the words of the program
    files            files that commands write beside what they print
    fitting          how a table is made to fit a terminal: what is shortened, and what is left out
    main             the program itself: finds the command, runs it, and says what went wrong
    manual           `tensorkeep man`: the manual page, made of what the commands say of themselves
    output           what commands print: tables and text for people, lines with tabs for programs, a bar meanwhile
    run_program      `tensorkeep run`: programs written for TensorFlow 1
    serve            `tensorkeep serve`: models by gRPC and HTTP
    start            where the program begins: all of it is imported here
"""
