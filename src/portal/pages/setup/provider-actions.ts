import type { verifyEmailDomain } from '../../../operations/domains/verify.ts';
import type { PageAction } from '../../page.ts';
import { callOperation, type OutputOf } from '../../visit.ts';
import { DNS_ACTIONS, DNS_DOMAIN } from '../domain-dns.ts';

/** Connects a provider, and shows at once what would be published there. */
export const connectAndPreview: PageAction = Object.assign<PageAction, object>(
  async (visit, fields, params) => {
    const connected = await DNS_ACTIONS['connect']?.(visit, fields, params);
    if (connected?.kind !== 'done') return connected ?? { kind: 'done', notice: 'connected' };
    const preview = await DNS_ACTIONS['preview']?.(visit, fields, params);
    return preview?.kind === 'shown' ? preview : connected;
  },
  { operation: 'connect_dns_provider' },
);

/** Publishes the records, and verifies the domain where they are visible already. */
export const publishAndVerify: PageAction = Object.assign<PageAction, object>(
  async (visit, fields, params) => {
    const published = await DNS_ACTIONS['publish']?.(visit, fields, params);
    if (published?.kind !== 'done') return published ?? { kind: 'done', notice: 'published' };
    const checked = await callOperation(visit, 'verify_email_domain', { domain: fields.text(DNS_DOMAIN) });
    const verified = checked.kind === 'done' && (checked.result as OutputOf<typeof verifyEmailDomain>).verified;
    return verified ? { kind: 'done', notice: 'verified' } : published;
  },
  { operation: 'publish_dns_records' },
);
