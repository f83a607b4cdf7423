import { lastHealth } from '../../doctor/health-commands.ts';
import type { HealthCheck } from '../../doctor/health-check.ts';
import type { listBansOfBox } from '../../operations/organization/bans.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Translator } from '../translator.ts';
import { readOperation, type Visit } from '../visit.ts';

/** Something that a person should look at: a sentence, and the page that resolves it. */
export interface AttentionItem {
  /** `bad`: mail or protection is lost now; `warn`: soon; `info`: somebody waits for a decision. */
  readonly level: 'bad' | 'warn' | 'info';
  readonly text: HtmlPart;
  readonly href: string;
  readonly link: string;
}

/** Items about the server itself, for the operator: its checks, and networks that were blocked. */
export async function serverAttention(t: Translator, visit: Visit): Promise<AttentionItem[]> {
  const [checks, bans] = await Promise.all([
    visit.context.store.read(lastHealth, undefined),
    readOperation<typeof listBansOfBox>(visit, 'list_bans', { limit: 25 }),
  ]);
  const count = bans?.bans.length ?? 0;
  const blocked: AttentionItem = {
    level: 'info',
    text: t(bans?.nextCursor === null ? 'attention.blocked' : 'attention.blocked-more', { count }),
    href: `${visit.base}/bans`,
    link: t('attention.view'),
  };
  return [...(checks?.checks ?? []).flatMap((one) => checkItem(t, visit, one)), ...(count > 0 ? [blocked] : [])];
}

function checkItem(t: Translator, { base }: Visit, { status, why, fix }: HealthCheck): AttentionItem[] {
  if (status !== 'failed' && status !== 'warning') return [];
  const level = status === 'failed' ? 'bad' : 'warn';
  return [
    {
      level,
      text: html`${t.english(why)} <span class="soft">${t.english(fix)}</span>`,
      href: `${base}/health`,
      link: t('attention.check-link'),
    },
  ];
}
