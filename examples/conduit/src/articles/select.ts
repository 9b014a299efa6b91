// An article as a row, for a reader ($1: the id, or 0).
export const author = `
  json_build_object('username', u.username, 'bio', u.bio, 'image', u.image, 'following', exists (
    select from follows where follower = $1 and followed = u.id
  )) as author`;

export const preview = `
  a.slug, a.title, a.description, a.tags as "tagList", a.created as "createdAt", a.updated as "updatedAt",
  exists (select from favourites where article = a.id and "user" = $1) as favorited,
  (select count(*)::int from favourites where article = a.id) as "favoritesCount",
  ${author}`;

export const from = `articles a join users u on u.id = a.author`;
