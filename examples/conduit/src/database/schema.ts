export const schema = `
  create table if not exists users (
    id serial primary key,
    username text not null unique,
    email text not null unique,
    password text not null,
    bio text,
    image text
  );
  create table if not exists sessions (
    key text primary key,
    "user" int not null references users on delete cascade,
    ends timestamptz not null
  );
  create table if not exists avatars (
    name text primary key,
    type text not null,
    bytes bytea not null
  );
  create table if not exists follows (
    follower int not null references users on delete cascade,
    followed int not null references users on delete cascade,
    primary key (follower, followed)
  );
  create table if not exists articles (
    id serial primary key,
    slug text not null unique,
    author int not null references users on delete cascade,
    title text not null,
    description text not null,
    body text not null,
    tags text[] not null,
    created timestamptz(3) not null default clock_timestamp(),
    updated timestamptz(3) not null default clock_timestamp()
  );
  create index if not exists articles_by_time on articles (created desc, id desc);
  create index if not exists articles_by_tag on articles using gin (tags);
  create table if not exists favourites (
    article int not null references articles on delete cascade,
    "user" int not null references users on delete cascade,
    primary key (article, "user")
  );
  create table if not exists comments (
    id serial primary key,
    article int not null references articles on delete cascade,
    author int not null references users on delete cascade,
    body text not null,
    created timestamptz(3) not null default clock_timestamp(),
    updated timestamptz(3) not null default clock_timestamp()
  );
`;
