"""What is shown to people: amounts, tables, progress.

amounts      amounts in words for people: bytes and back, how many there are of something, and a few of many names
html_tables  small tables for notebooks
json_values  values as JSON can have them
progress     how far a long piece of work is, for whoever wants to know
terminal     what a program's output goes to: a person's terminal, or another program
"""
