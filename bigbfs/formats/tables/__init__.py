"""Tables: columns of edges in files and objects of other libraries, by way of pyarrow (the extra ``tables``)."""
