import { command, lookup } from '../engine/types.ts';

/** Capabilities that the IMAP sessions of an account do not list. */
export const hiddenCapabilities = lookup(
  'hidden-capabilities',
  async (rx, { account }: { account: number }): Promise<string[]> => {
    const row = await rx.get<{ hidden_capabilities: string }>(
      'SELECT hidden_capabilities FROM imap_setting WHERE account_id = ?',
      account,
    );
    return (row?.hidden_capabilities ?? '').split(' ').filter((name) => name !== '');
  },
);

/** Replaces the list of an account; it applies from the next login. */
export const setHiddenCapabilities = command(
  'set-hidden-capabilities',
  async (tx, { account, names }: { account: number; names: readonly string[] }): Promise<{ kind: 'set' }> => {
    await tx.run(
      `INSERT INTO imap_setting (account_id, hidden_capabilities) VALUES (?, ?)
       ON CONFLICT (account_id) DO UPDATE SET hidden_capabilities = excluded.hidden_capabilities`,
      account,
      [...new Set(names)].toSorted().join(' '),
    );
    return { kind: 'set' };
  },
);
