import type { AppContext } from '../core/app-context.ts';
import { publicId, rowId } from '../core/ids.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { secretUrl } from '../notices/secret-pages.ts';
import { approver, type Approver, sealOfApproval } from './queries.ts';

/** Octets of the MAC that a link carries. */
const MAC_OCTETS = 24;

/** Parameters of the URL. */
export interface ApprovalLink {
  id: string;
  user: string;
  token: string;
}

type LinkContext = Pick<AppContext, 'store' | 'secrets'>;

/**
 * Creates the link by which one owner decides about one message without signing in. It is bound to the octets, the envelope
 * and the person, and expires with the decision. It is mailed only to addresses outside of this box: an agent may be able to
 * read local mail.
 */
export async function approvalLink(
  context: LinkContext & Pick<AppContext, 'baseUrl'>,
  { id, user }: { id: number; user: number },
): Promise<string | undefined> {
  const found = await context.store.read(sealOfApproval, { id });
  if (found === undefined) return undefined;
  const token = macOf(context, { id, user, seal: found.seal }).toString('hex');
  return secretUrl(context.baseUrl, 'approve', { id: publicId('outbox', id), user: publicId('user', user), token });
}

/** Opens a link if its MAC is valid and its person is still an owner. */
export async function openApprovalLink(
  context: LinkContext,
  link: ApprovalLink,
): Promise<{ id: number; tenant: number; approver: Approver } | undefined> {
  const [id, user] = [rowId('outbox', link.id), rowId('user', link.user)];
  if (id === undefined || user === undefined || !/^[0-9a-f]{48}$/.test(link.token)) return undefined;
  const found = await context.store.read(sealOfApproval, { id });
  // Computes a MAC for unknown messages too: the response time is the same.
  const mac = macOf(context, { id, user, seal: found?.seal ?? '' });
  if (!timingSafeEqual(mac, Buffer.from(link.token, 'hex')) || found === undefined) return undefined;
  const person = await context.store.read(approver, { organization: found.tenant, user });
  return person && { id, tenant: found.tenant, approver: person };
}

function macOf({ secrets }: LinkContext, { id, user, seal }: { id: number; user: number; seal: string }): Buffer {
  const key = secrets.subkey('approval links');
  return createHmac('sha256', key).update(`${id}.${user}.${seal}`).digest().subarray(0, MAC_OCTETS);
}
