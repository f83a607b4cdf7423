import { textKey } from '../../message/address.ts';
import type { Read, Stamp, Write } from '../../store/engine/types.ts';
import { recordJournalEvent } from '../../store/journal/journal.ts';
import { MAX_FORWARD_TARGETS, forwardTargets } from '../../store/address/forwarder.ts';
import type { AgentMail, RecipientContext } from '../gate/gate-input.ts';
import { localRecipients } from '../gate/recipient-context.ts';
import { nameRecipients } from '../gate/reasons.ts';

type LocalMail = Pick<AgentMail, 'tenant' | 'here'>;

/** Recipients of a waiting message that were internal when it was accepted. */
interface InternalRecipients {
  /** Keys of those whose mail stays on this server. */
  readonly keys: readonly string[];
  /** Keys outside that their forwards led to: of owners and members, or allowed by the policy. */
  readonly outside: readonly string[];
}

/**
 * Records the internal recipients of an agent's message that waits. Mail to them is not held, so it must not leave when
 * they forward outside, or are no longer of this organization, at the time it is sent.
 */
export async function recordInternalRecipients(
  tx: Write,
  submission: number,
  mail: LocalMail,
  { recipients }: RecipientContext,
): Promise<void> {
  const internal = recipients.filter((one) => one.internal).map(({ key }) => key);
  const keys = [...(await localRecipients(tx, mail, internal))];
  if (keys.length === 0) return;
  const targets = (await forwardTargets(tx, keys)).map(({ to }) => to);
  const inside = await localRecipients(tx, mail, targets);
  const recorded: InternalRecipients = { keys, outside: targets.filter((one) => !inside.has(one)) };
  await tx.run('UPDATE scheduled SET internal = ? WHERE submission_id = ?', JSON.stringify(recorded), submission);
}

/** A waiting message with its destinations of now. */
interface ResolvedMail extends Pick<AgentMail, 'here'> {
  id: number;
  /** Recipients on this server, those included that only forward. */
  local: readonly string[];
  elsewhere: readonly { recipient: string }[];
}

/** Holds a waiting message that would leave to a recipient that was internal. */
export async function holdIfRedirected(
  tx: Write,
  { id, here, local, elsewhere }: ResolvedMail,
  stamp: Stamp,
): Promise<boolean> {
  const row = await tx.get<{ internal: string; trace: string; tenant: number; account: number | null }>(
    `SELECT d.internal, s.trace, s.tenant, s.account_id AS account FROM scheduled d JOIN submission s ON s.id = d.submission_id
     WHERE d.submission_id = ? AND d.internal IS NOT NULL AND d.hold_reason IS NULL`,
    id,
  );
  if (row === undefined) return false;
  const { trace, tenant, account } = row;
  const reached = new Set([...local, ...elsewhere.map(({ recipient }) => recipient)].map(textKey));
  const recorded = JSON.parse(row.internal) as InternalRecipients;
  const keys = recorded.keys.filter((key) => reached.has(key));
  const lost = await noLongerInternal(tx, { tenant, here }, { ...recorded, keys });
  if (lost.length === 0) return false;
  const named = nameRecipients(lost.map((address) => ({ address })));
  const because = `mail to ${named} stayed here when an agent sent this, and would leave now: send it again, or cancel it`;
  await tx.run('UPDATE scheduled SET hold_reason = ? WHERE submission_id = ?', because, id);
  await recordJournalEvent(tx, trace, 'held', account, { because, outbox: id }, stamp, { tenant });
  return true;
}

async function noLongerInternal(
  rx: Read,
  mail: LocalMail,
  { keys, outside }: InternalRecipients,
): Promise<readonly string[]> {
  const local = await localRecipients(rx, mail, keys);
  const ways = await forwardTargets(rx, keys);
  if (ways.length > MAX_FORWARD_TARGETS) return keys;
  const targets = ways.map(({ to }) => to);
  const inside = new Set([...outside, ...(await localRecipients(rx, mail, targets))]);
  const led = new Set(ways.filter(({ to }) => !inside.has(to)).map(({ from }) => from));
  return keys.filter((key) => !local.has(key) || led.has(key));
}
