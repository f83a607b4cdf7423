import { moveToRole } from './actions.ts';
import type { FullEmail } from './jmap-types.ts';
import { folderByRole } from './mail-state.ts';
import { html } from './view.ts';

interface ShownFinding {
  why: string;
  score: number;
}

/** Says in words why the message lies where it lies, and who vouches for its author. */
export function VerdictNote({ email }: { email: FullEmail }) {
  const { 'mailstead:trust': trust, 'mailstead:verdict': verdict } = email;
  if (trust === null || verdict === null) return null;
  const findings = verdict.findings as unknown as ShownFinding[];
  const against = findings.filter(({ score }) => score > 0);
  const junk = folderByRole('junk');
  const inJunk = junk !== undefined && email.mailboxIds[junk.id] === true;
  const tone = inJunk || trust.alignedFrom !== true ? 'warn' : '';
  return html`<details class="verdict ${tone}" open=${inJunk}>
    <summary>${headline(inJunk, trust, against)}</summary>
    <ul>
      <li>
        ${trust.alignedFrom === true ? "The sender's domain confirms the author (SPF or DKIM)." : "The author's address is not confirmed by its domain. Anybody could have written it."}
      </li>
      <li>
        ${trust.knownSender === true ? 'You have exchanged mail with this author before.' : 'This is the first mail from this author that you kept.'}
      </li>
      ${findings.map(({ why, score }) => html`<li>${why}. <span class="soft">${score > 0 ? `+${score}` : score}</span></li>`)}
      <li class="soft">Score ${verdict.score}. Checks: ${checksOf(trust.auth)}.</li>
    </ul>
    ${inJunk && html`<button type="button" class="small" onClick=${() => void moveToRole([email], 'inbox', 'Moved to')}>This is not junk</button>`}
  </details>`;
}

function headline(
  inJunk: boolean,
  trust: NonNullable<FullEmail['mailstead:trust']>,
  against: readonly ShownFinding[],
): string {
  const worst = against.toSorted((a, b) => b.score - a.score)[0];
  if (inJunk) return worst === undefined ? 'In Junk: moved here by hand or by a rule.' : `In Junk: ${worst.why}.`;
  if (trust.alignedFrom !== true) return 'The author of this message is not confirmed.';
  return trust.knownSender === true ? 'From a known, confirmed author.' : 'From a confirmed author, new to you.';
}

function checksOf(auth: unknown): string {
  const { spf, dkim, dmarc } = (auth ?? {}) as Record<string, string>;
  return `SPF ${spf ?? 'none'}, DKIM ${dkim ?? 'none'}, DMARC ${dmarc ?? 'none'}`;
}
