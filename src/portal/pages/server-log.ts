import { LOG_LEVELS, type LogFilter, type LogLevel, type ServerLogLine } from '../../core/recent-log.ts';
import { emptyState, pageHead, tag, timestampWithSeconds } from '../components.ts';
import { EMPTY_FORM, field, select } from '../forms.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';

/** Lines of the page. */
export const SHOWN_LINES = 200;
const MAX_TEXT = 100;

/** The newest lines of the log of the server, for its operator. A script adds new ones. */
export const serverLog: Page = {
  path: '/log',
  name: 'Log',
  translated: true,
  menu: 'This server',
  // A tool for the operator only; the log itself is not for agents.
  needs: 'get_health',
  notForMembers: true,
  notices: {},
  actions: {},
  calls: () => [],
  async show(visit, { query }) {
    const filter = logFilterIn(query);
    const { lines } = visit.context.recentLog.after(0, filter, SHOWN_LINES);
    const search = new URLSearchParams({ level: filter.level, text: filter.text }).toString();
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Log'), t('server-log.about'))} ${filterForm(t, `${visit.base}/log`, filter)}
      <section>
        <p class="acts log-status">
          <span class="small soft" data-log-status></span>
          <button type="button" class="quiet" data-log-pause hidden>${t('server-log.pause')}</button>
        </p>
        <div
          class="log"
          role="log"
          aria-live="off"
          aria-label="${t('server-log.lines')}"
          tabindex="0"
          data-live-log="${visit.base}/log/events?${search}"
        >
          ${lines.toReversed().map((line) => lineRow(t, line))}
        </div>
        ${lines.length === 0 && emptyState(t('server-log.none'), t('server-log.none-text'))}
      </section>`;
  },
};

function filterForm(t: Translator, path: string, { level, text }: LogFilter): Html {
  const contains = { label: t('server-log.contains'), value: text, optional: true, compact: true };
  return html`<form class="filters" method="get" action="${path}">
    ${select({ name: 'level', label: t('server-log.level'), choices: LEVELS, value: level }, EMPTY_FORM)}
    ${field({ name: 'text', ...contains, autocomplete: 'off' }, EMPTY_FORM)}
    <button class="quiet">${t('audit.filter')}</button>
  </form>`;
}

const LEVELS = LOG_LEVELS.map((value) => ({ value, label: value }));

/** Filter from a query string; by default all lines from info on. */
export function logFilterIn(query: Readonly<Record<string, unknown>>): LogFilter {
  const { level, text } = query;
  return {
    level: LOG_LEVELS.find((one) => one === level) ?? 'info',
    text: typeof text === 'string' ? text.trim().slice(0, MAX_TEXT) : '',
  };
}

const LOOKS: Readonly<Record<LogLevel, 'warn' | 'bad' | ''>> = {
  trace: '',
  debug: '',
  info: '',
  warn: 'warn',
  error: 'bad',
};

/** One line, which is English. The script of the page creates the same. */
function lineRow(t: Translator, { at, level, text, fields }: ServerLogLine): Html {
  return html`<div class="log-line">
    ${timestampWithSeconds(at, t)} ${tag(level, LOOKS[level])}
    <span ${t.language !== 'en' && html`lang="en"`}>${text}</span>
    ${fields !== '' && html`<code>${fields}</code>`}
  </div>`;
}
