-- A name is compared byte by byte here as in the filter. Where a database takes Ann for ann, fold names before both.
CREATE TABLE users (
    name text COLLATE "C" PRIMARY KEY,
    email text NOT NULL
);
