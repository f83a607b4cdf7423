import type { ComponentChild } from 'preact';
import { mayFile, moveToRole } from './actions.ts';
import type { FullEmail } from './jmap-types.ts';
import { folderByRole } from './mail-state.ts';
import { rich } from './rich-message.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface ShownFinding {
  why: string;
  score: number;
}

/** Says in words why the message lies where it lies, and who vouches for its author. */
export function VerdictNote({ email }: { email: FullEmail }) {
  const { 'mailstead:trust': trust, 'mailstead:verdict': verdict } = email;
  if (trust == null || verdict == null) return null;
  const findings = verdict.findings as unknown as ShownFinding[];
  const against = findings.filter(({ score }) => score > 0);
  const junk = folderByRole('junk');
  const inJunk = junk !== undefined && email.mailboxIds[junk.id] === true;
  const tone = inJunk || trust.alignedFrom !== true ? 'warn' : '';
  return html`<details class="verdict ${tone}" open=${inJunk}>
    <summary>${headline(inJunk, trust, against)}</summary>
    <ul>
      <li>${trust.alignedFrom === true ? t('verdict.confirmed') : t('verdict.not-confirmed')}</li>
      <li>${trust.knownSender === true ? t('verdict.known') : t('verdict.first')}</li>
      ${findings.map(({ why, score }) => html`<li><span lang="en">${why}.</span> <span class="soft">${score > 0 ? `+${score}` : score}</span></li>`)}
      <li class="soft">${t('verdict.score', { score: verdict.score, checks: checksOf(trust.auth) })}</li>
    </ul>
    ${inJunk && mayFile('inbox', [email]) && html`<button type="button" class="small" onClick=${() => void moveToRole([email], 'inbox')}>${t('verdict.is-not-junk')}</button>`}
  </details>`;
}

function headline(
  inJunk: boolean,
  trust: NonNullable<FullEmail['mailstead:trust']>,
  against: readonly ShownFinding[],
): ComponentChild {
  const worst = against.toSorted((a, b) => b.score - a.score)[0];
  if (inJunk)
    return worst === undefined
      ? t('verdict.junk-moved')
      : rich('verdict.junk-because', { why: html`<span lang="en">${worst.why}</span>` });
  if (trust.alignedFrom !== true) return t('verdict.head-not-confirmed');
  return trust.knownSender === true ? t('verdict.head-known') : t('verdict.head-new');
}

function checksOf(auth: unknown): string {
  const { spf, dkim, dmarc } = (auth ?? {}) as Record<string, string>;
  return `SPF ${spf ?? 'none'}, DKIM ${dkim ?? 'none'}, DMARC ${dmarc ?? 'none'}`;
}
