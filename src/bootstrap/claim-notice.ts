import { plainName } from '../notices/owners.ts';
import type { Address } from '../../mail/message/address.ts';
import type { NoticeText } from '../notices/compose.ts';
import { CLAIM_DAYS } from './commands.ts';

/** Notice by which an owner claims an organization. Strangers choose the name, so it is stripped of links. */
export function claimNotice(to: Address, organization: string, url: string, hostname: string): NoticeText<'claim'> {
  const name = plainName(organization);
  return {
    kind: 'claim',
    to,
    subject: `Claim your organization ${name} on ${hostname}`,
    text: [
      'Hello,',
      '',
      `somebody, perhaps your agent, created the organization "${name}" on the mail server ${hostname}`,
      'and named this address as its owner.',
      '',
      `To claim it, open this page within ${CLAIM_DAYS} days and set a password:`,
      '',
      url,
      '',
      'You can then review what was done, and revoke the access of its creator.',
      'If you do not know about this, ignore this message: the organization stays unclaimed.',
      '',
      `Mailstead on ${hostname}`,
    ].join('\r\n'),
  };
}
