"""What is done with requests besides answering: counted, limited, logged, sent elsewhere."""
