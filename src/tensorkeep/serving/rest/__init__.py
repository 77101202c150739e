"""HTTP: URLs, JSON and binary bodies, pages for people.

answers          answers as JSON bodies
application      the server of HTTP as an application of ASGI
arrow_bodies     arrays as streams of Arrow
binary_bodies    arrays in bodies without JSON: .npy, .npz, forms, Arrow
example_bodies   bodies of classify and regress requests, as `tf.Example` messages
json_arrays      values of JSON as arrays, by the types that a signature has for them
json_text        arrays as JSON text
json_values      JSON that has been read, as values that can be asked what they are
openapi          a description of the interface by OpenAPI, made from signatures
options          how HTTP is spoken, and what is told to whom
page             the page for people
predict_bodies   bodies of predict requests, in rows or in columns, as arrays by the signature
requests         a request as it comes by ASGI: its parts, and its body within limits
routes           what a URL asks for
served_models    the models that are served and their signatures, as pages and descriptions tell of them
"""
