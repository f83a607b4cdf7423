import { formatAddress, textKey, type Address } from '../../message/address.ts';
import type { ForeignAuthor } from '../../delivery/identity.ts';
import { reasonText } from '../../agents/gate/reasons.ts';
import type { SubmissionRejection } from '../../delivery/submission-commit.ts';
import type { OverAllowance } from '../../store/limit/allowance.ts';
import { refused, type SetOutcome } from '../standard/standard-set.ts';

/** Converts a rejection by the sending gate into a SetError. RFC 8621 7.5. */
export function rejectionOutcome(stopped: SubmissionRejection, sender: Address | undefined): SetOutcome<never> {
  switch (stopped.kind) {
    case 'foreign':
      return foreign(stopped, sender);
    case 'over':
      return over(stopped);
    case 'refused':
      return refused('forbiddenToSend', `${stopped.because}.`);
    case 'agent-stop':
      return refused(stopped.error === 'budget_exceeded' ? 'rateLimit' : 'forbiddenToSend', reasonText(stopped));
    case 'suppressed':
    case 'repeated':
    case 'changed':
      throw new Error(`a person's message was stopped as ${stopped.kind}`);
  }
}

function foreign({ why, address, domain }: ForeignAuthor, sender: Address | undefined): SetOutcome<never> {
  const type =
    sender !== undefined && textKey(address) === textKey(formatAddress(sender)) ? 'forbiddenMailFrom' : 'forbiddenFrom';
  if (why === 'paused') {
    return refused(
      type,
      `Sending from ${domain} is paused because its DNS records are wrong. Correct them and verify the domain.`,
    );
  }
  return refused(type, `This account cannot send as ${address}, which is not one of its addresses.`);
}

function over(stopped: OverAllowance): SetOutcome<never> {
  if (stopped.what === 'recipient') {
    return refused('forbiddenToSend', `Sending to ${stopped.recipient} is not allowed yet. ${stopped.until}.`);
  }
  const seconds = Math.ceil(stopped.wait / 1000);
  return refused('rateLimit', `Sending limit reached. Retry in ${seconds} seconds. ${stopped.until}.`);
}
