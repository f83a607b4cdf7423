import { query } from '../../mail/store/engine/types.ts';

/** Where the octets of a message are that waits; undefined when it waits no more. */
export const waitingOctets = query(
  'waiting-octets',
  (rx, { id }: { id: number }): Promise<{ blob: number; size: number } | undefined> =>
    rx.get<{ blob: number; size: number }>(
      `SELECT s.blob_id AS blob, s.size FROM submission s JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ?`,
      id,
    ),
);

/** What an organization calls one of its tokens; also one that is revoked. */
export const tokenName = query(
  'token-name',
  async (rx, { organization, id }: { organization: number; id: number }): Promise<string | undefined> => {
    const sql = 'SELECT name FROM token WHERE id = ? AND organization_id = ?';
    return (await rx.get<{ name: string }>(sql, id, organization))?.name;
  },
);
