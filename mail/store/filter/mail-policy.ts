import { MAIL_POLICY, type MailPolicy } from '../../policy/mail-policy.ts';
import { command, query, type Read } from '../engine/types.ts';

/** The filter settings of a tenant. */
export const mailPolicy = query('mail-policy', (rx, input: { tenant: number }): Promise<MailPolicy> =>
  policyOf(rx, input.tenant),
);

/** Changes the given settings. Returns the resulting settings. */
export const setMailPolicy = command(
  'set-mail-policy',
  async (tx, input: { tenant: number; policy: Partial<MailPolicy> }): Promise<MailPolicy> => {
    const policy = { ...(await policyOf(tx, input.tenant)), ...input.policy };
    await tx.run(
      `INSERT INTO mail_policy (tenant, dmarc, rejects) VALUES (?1, ?2, ?3)
       ON CONFLICT (tenant) DO UPDATE SET dmarc = ?2, rejects = ?3`,
      input.tenant,
      policy.dmarc,
      Number(policy.rejects),
    );
    return policy;
  },
);

export async function policyOf(rx: Read, tenant: number): Promise<MailPolicy> {
  const row = await rx.get<{ dmarc: MailPolicy['dmarc']; rejects: number }>(
    'SELECT dmarc, rejects FROM mail_policy WHERE tenant = ?',
    tenant,
  );
  return row === undefined ? MAIL_POLICY : { dmarc: row.dmarc, rejects: row.rejects === 1 };
}
