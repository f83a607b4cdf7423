import { z } from 'zod';
import { storedCertificates } from '../../certificates/queries.ts';
import { setStsMode, STS_MODES } from '../../domains/sts-commands.ts';
import { stsPolicyText, stsRecordText } from '../../domains/sts-policy.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { domainOf } from '../scope.ts';
import { DomainArguments } from './arguments.ts';

export const setMtaSts = operation({
  name: 'set_mta_sts',
  title: 'Set the MTA-STS policy of a domain',
  toolset: 'dns',
  reach: 'project',
  action: 'manage',
  description:
    'Sets the MTA-STS mode of a domain and returns the TXT record to publish. With enforce, senders defer mail that they cannot deliver over verified TLS.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ ...DomainArguments, mode: z.enum(STS_MODES).describe('Begin with testing') }),
  output: z.object({
    mode: z.enum(STS_MODES),
    record: z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() }),
    policy: z.string(),
    url: z.string(),
  }),
  async run(call, { mode, ...which }) {
    const { id, name, verified } = await domainOf(call, which);
    if (!verified) refuse('domain_not_verified', `${name} is not verified: verify it first with verify_email_domain.`);
    if (mode === 'enforce') await requireCertificates(call, name);
    const { changedAt } = await call.change(setStsMode, { domain: id, mode }, publicId('domain', id), { mode });
    const policy = { mode, changedAt };
    return {
      mode,
      record: { type: 'TXT' as const, name: `_mta-sts.${name}`, value: stsRecordText(policy) },
      policy: stsPolicyText(policy, call.settings.hostname),
      url: `https://mta-sts.${name}/.well-known/mta-sts.txt`,
    };
  },
});

/** Senders would defer all mail without a valid certificate of the MX, and ignore a policy that they cannot fetch. */
async function requireCertificates({ store, certificate, settings }: Call, domain: string): Promise<void> {
  if (!settings.live) return;
  if (certificate().selfSigned) {
    refuse(
      'conflict',
      `The certificate of ${settings.hostname} is self-signed: senders would defer all mail. Get one first.`,
    );
  }
  const all = await store.read(storedCertificates, undefined);
  if (settings.acme === undefined || all.some(({ names }) => names.includes(`mta-sts.${domain}`))) return;
  refuse(
    'conflict',
    `There is no certificate for mta-sts.${domain}: point it to ${settings.hostname} (CNAME), wait for the certificate, and try again.`,
  );
}
