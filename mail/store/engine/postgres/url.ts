/** Reports whether a database is on PostgreSQL: its address is a URL, that of SQLite is a path. */
export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database);
}
