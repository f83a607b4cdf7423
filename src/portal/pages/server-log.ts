import { LOG_LEVELS, type LogFilter, type LogLevel, type ServerLogLine } from '../../core/recent-log.ts';
import { emptyState, pageHead, tag, timestampWithSeconds } from '../components.ts';
import { EMPTY_FORM, field, select } from '../forms.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../page.ts';

/** Lines of the page. */
export const SHOWN_LINES = 200;
const MAX_TEXT = 100;

/** The newest lines of the log of the server, for its operator. A script adds new ones. */
export const serverLog: Page = {
  path: '/log',
  name: 'Log',
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
    return html`${pageHead('Log', 'The newest lines of the log of this server, newest first. Secrets and message text are never logged.')}
      <form class="filters" method="get" action="${visit.base}/log">
        ${select({ name: 'level', label: 'Minimum level', choices: LEVELS, value: filter.level }, EMPTY_FORM)}
        ${field({ name: 'text', label: 'Contains', value: filter.text, optional: true, compact: true, autocomplete: 'off' }, EMPTY_FORM)}
        <button class="quiet">Filter</button>
      </form>
      <section>
        <p class="acts log-status">
          <span class="small soft" data-log-status></span>
          <button type="button" class="quiet" data-log-pause hidden>Pause</button>
        </p>
        <div
          class="log"
          role="log"
          aria-live="off"
          aria-label="Lines"
          tabindex="0"
          data-live-log="${visit.base}/log/events?${search}"
        >
          ${lines.toReversed().map(lineRow)}
        </div>
        ${lines.length === 0 && emptyState('No lines', 'No line of the log since the start of the server matches.')}
      </section>`;
  },
};

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

/** One line. The script of the page creates the same. */
function lineRow({ at, level, text, fields }: ServerLogLine): Html {
  return html`<div class="log-line">
    ${timestampWithSeconds(at)} ${tag(level, LOOKS[level])} <span>${text}</span>
    ${fields !== '' && html`<code>${fields}</code>`}
  </div>`;
}
