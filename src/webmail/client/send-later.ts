import { useRef } from 'preact/hooks';
import { Icon } from './icons.ts';
import { atHour, fieldTime, laterTimes } from './later-times.ts';
import { LOCALE, t } from './translate.ts';
import { html } from './view.ts';

/** The server holds a message for at most 30 days. */
const MAX_DAYS = 30;

const TIME = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** A menu of times at which the message is sent. */
export function SendLater({ onTime }: { onTime: (at: Date) => void }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const choose = (at: Date): void => {
    menu.current?.removeAttribute('open');
    onTime(at);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const typed = new FormData(event.target as HTMLFormElement).get('at');
    const at = new Date(typeof typed === 'string' ? typed : '');
    if (!Number.isNaN(at.getTime())) choose(at);
  };
  const now = new Date();
  return html`<details class="menu later" ref=${menu}>
    <summary class="icon-button" title=${t('compose.send-later')} aria-label=${t('compose.send-later')}>
      <${Icon} name="clock" />
    </summary>
    <div class="menu-body">
      ${laterTimes(now).map(({ label, at }) => html`<button type="button" onClick=${() => choose(at)}>${t(label)} <span class="soft">${TIME.format(at)}</span></button>`)}
      <form onSubmit=${submit}>
        <input
          name="at"
          type="datetime-local"
          aria-label=${t('later.time')}
          required
          min=${fieldTime(now)}
          max=${fieldTime(atHour(now, MAX_DAYS - 1, 0))}
        />
        <button class="small">${t('button.schedule')}</button>
      </form>
    </div>
  </details>`;
}
