import type { previewDnsChanges } from '../../../operations/dns-providers/provider.ts';
import type { verifyEmailDomain } from '../../../operations/domains/verify.ts';
import type { PageAction } from '../../page.ts';
import { runOperation, isAllowed, type OutputOf, readOperation, type Visit } from '../../visit.ts';
import { DNS_ACTIONS, DNS_DOMAIN } from '../domain-dns.ts';

/** Connects a provider, and publishes the records where all are new; else it shows the changes, for a decision. */
export const connectAndPublish: PageAction = Object.assign<PageAction, object>(
  async (visit, fields, params) => {
    const connected = await DNS_ACTIONS['connect']?.(visit, fields, params);
    if (connected?.kind !== 'done') return connected ?? { kind: 'done', notice: 'connected' };
    if (await addsOnly(visit, fields.text(DNS_DOMAIN))) return publishAndVerify(visit, fields, params);
    const preview = await DNS_ACTIONS['preview']?.(visit, fields, params);
    return preview?.kind === 'shown' ? preview : connected;
  },
  { operation: 'connect_dns_provider' },
);

/** True if the publication adds records and touches none of others. */
async function addsOnly(visit: Visit, domain: string): Promise<boolean> {
  if (!isAllowed(visit, 'publish_dns_records')) return false;
  const preview = await readOperation<typeof previewDnsChanges>(visit, 'preview_dns_changes', { domain });
  return preview?.changes.every(({ action }) => action === 'create' || action === 'keep') === true;
}

/** Publishes the records, and verifies the domain where they are visible already. */
export const publishAndVerify: PageAction = Object.assign<PageAction, object>(
  async (visit, fields, params) => {
    const published = await DNS_ACTIONS['publish']?.(visit, fields, params);
    if (published?.kind !== 'done') return published ?? { kind: 'done', notice: 'published' };
    const checked = await runOperation(visit, 'verify_email_domain', { domain: fields.text(DNS_DOMAIN) });
    const verified = checked.kind === 'done' && (checked.result as OutputOf<typeof verifyEmailDomain>).verified;
    return verified ? { kind: 'done', notice: 'verified' } : published;
  },
  { operation: 'publish_dns_records' },
);
