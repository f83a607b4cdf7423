/** Keys that a command has for the backups of a target. */
export interface BackupKeys {
  /** Makes and opens backups. */
  passphrase?: string | undefined;
  /** Public keys that backups are made for. */
  recipients?: readonly Buffer[];
  /** Private keys, which open backups for their recipients. Not needed to make backups. */
  identities?: readonly Buffer[];
  /**
   * Derives the index key of a repository with recipients from the key file of the server. It opens manifests, maps and
   * hashes of pages, which a further backup needs, and no pack. Undefined: there is no key file here.
   */
  indexKey?: ((repository: string) => Buffer) | undefined;
}
