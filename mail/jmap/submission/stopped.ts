import { formatAddress, textKey, type Address } from '../../message/address.ts';
import type { ForeignAuthor } from '../../delivery/identity.ts';
import { whyOf } from '../../delivery/agent/why.ts';
import type { Stopped } from '../../delivery/submit.ts';
import type { OverAllowance } from '../../store/allowance.ts';
import { type Outcome, refused } from '../standard-set.ts';

/** Why the gate did not take a message, as the SetError of RFC 8621 7.5 for it. */
export function stoppedAs(stopped: Stopped, sender: Address | undefined): Outcome<never> {
  switch (stopped.kind) {
    case 'foreign':
      return foreign(stopped, sender);
    case 'over':
      return over(stopped);
    case 'refused':
      return refused('forbiddenToSend', `${stopped.because}.`);
    case 'agent-stop':
      return refused(stopped.error === 'budget_exceeded' ? 'rateLimit' : 'forbiddenToSend', whyOf(stopped));
    case 'suppressed':
    case 'repeated':
    case 'changed':
      throw new Error(`a person's message was stopped as ${stopped.kind}`);
  }
}

function foreign({ why, address, domain }: ForeignAuthor, sender: Address | undefined): Outcome<never> {
  const type =
    sender !== undefined && textKey(address) === textKey(formatAddress(sender)) ? 'forbiddenMailFrom' : 'forbiddenFrom';
  if (why === 'paused') {
    return refused(
      type,
      `Sending from ${domain} is paused: its DNS records are wrong; mend them and verify the domain.`,
    );
  }
  return refused(type, `This account may not send as ${address}: it is not one of its addresses.`);
}

function over(stopped: OverAllowance): Outcome<never> {
  if (stopped.what === 'recipient') {
    return refused('forbiddenToSend', `${stopped.recipient} may not be written to yet. ${stopped.until}.`);
  }
  const seconds = Math.ceil(stopped.wait / 1000);
  return refused('rateLimit', `Too much for now: try again in ${seconds} seconds. ${stopped.until}.`);
}
