const LENGTH = 4;

/** Reads what a client sends to PostgreSQL, and finds the commits of batches. Protocol 3, without TLS. */
export class CommitFinder {
  #rest: Buffer = Buffer.alloc(0);
  #isStarted = false;
  /** The connection has the statement that names a batch; those that only read commit too. */
  #writes = false;
  readonly #commits = new Set<string>();

  /** Reports whether the octets complete a COMMIT of a batch, which the client sends when it awaits all other replies. */
  endsWithCommit(octets: Buffer): boolean {
    this.#rest = Buffer.concat([this.#rest, octets]);
    let found = false;
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#rest.length < head + LENGTH) return found;
      const end = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < end) return found;
      if (this.#isStarted && this.#isCommit(String.fromCharCode(this.#rest[0] ?? 0), this.#rest.subarray(5, end))) {
        found = true;
      }
      this.#isStarted = true;
      this.#rest = this.#rest.subarray(end);
    }
  }

  /** Parse has the name and the text of a statement, Bind those of a portal and of a statement. */
  #isCommit(type: string, body: Buffer): boolean {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    if (type === 'P') {
      this.#writes ||= second.includes('INTO node_commit');
      if (second === 'COMMIT') this.#commits.add(first);
    }
    return type === 'B' && this.#writes && this.#commits.has(second);
  }
}
