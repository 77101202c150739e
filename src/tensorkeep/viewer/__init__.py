"""The viewer in the browser: a model's graph, weights, embedding tables, history and health on one page.

A page asks questions and is given JSON; what answers them here is the same for a page that is served, for one that is
written as a single file with all its answers in it, and for one in a notebook. The folder `static` has the page as a
browser gets it, built from `web` in the repository.

    answers/     what a page can ask, by subject
    application  the answers by HTTP: who may ask, and what a browser may do with them
    asking       a question: what is asked of which source, and how far the work on it is
    jobs         long work in threads, which tells how far it is and can be cancelled
    notebook     the viewer in a notebook: `tensorkeep.view`
    page         a page as one file, with the answers in it; its files and its answers as they are sent
    server       the server: a socket, a token, and the application behind it
    sources      what is looked at: paths, and what is open of each
"""
