import type { Sending } from '../../store/exposure.ts';
import type { Submission } from '../submit.ts';
import type { Circle } from './circle.ts';
import type { AgentSending } from './types.ts';

/** What is asked about a message of an agent. */
export interface Asking {
  mail: Submission;
  agent: AgentSending;
  circle: Circle;
}

/** Under which name a sender's messages are counted: tokens that one made have no more together than it has. */
export function readerOf({ reader, credential }: AgentSending): string {
  return reader ?? credential;
}

/** As whom an agent that sends is looked up among those who have read. */
export function sendingOf({ tenant }: Pick<Submission, 'tenant'>, agent: AgentSending): Sending {
  return { tenant, reader: readerOf(agent), byPassword: agent.byPassword === true };
}
