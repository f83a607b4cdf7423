import { lookup } from '../../mail/store/engine/types.ts';

/** DMARC policy that the record of a domain is to publish; none without a row. */
export const ownDmarcPolicy = lookup(
  'own-dmarc-policy',
  async (rx, { domain }: { domain: number }): Promise<'none' | 'quarantine' | 'reject'> => {
    const row = await rx.get<{ policy: 'none' | 'quarantine' | 'reject' }>(
      'SELECT policy FROM own_dmarc_policy WHERE domain_id = ?',
      domain,
    );
    return row?.policy ?? 'none';
  },
);
