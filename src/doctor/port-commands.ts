import { command, lookup } from '../../mail/store/engine/types.ts';

/** A connection, or a name that the operator gave. */
export interface PortEvidence {
  value: string;
  /** ms UTC. */
  at: number;
}

/** Records the last connection from outside, or the last named mail server. */
export const recordPortEvidence = command(
  'record-port-evidence',
  async (tx, { name, value }: { name: 'incoming' | 'peer'; value: string }, stamp): Promise<void> => {
    await tx.run(
      `INSERT INTO port_evidence (name, value, at) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at`,
      name,
      value,
      stamp.now,
    );
  },
);

/** Reads what was recorded last; undefined: nothing. */
export const portEvidence = lookup(
  'port-evidence',
  (rx, { name }: { name: 'incoming' | 'peer' }): Promise<PortEvidence | undefined> =>
    rx.get<{ value: string; at: number }>('SELECT value, at FROM port_evidence WHERE name = ?', name),
);
