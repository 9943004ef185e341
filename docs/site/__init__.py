"""How the site of this folder's pages is made (``conf``), and the pages that are made from the code (``reference``)."""
