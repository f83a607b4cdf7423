import { useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.ts';
import { atHour, fieldTime, type LaterTime } from './later-times.ts';
import { LOCALE, t } from './translate.ts';
import { html } from './view.ts';

const TIME = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

interface TimeMenuProps {
  name: IconName;
  label: string;
  /** Text of the button for a time that is typed. */
  submit: string;
  times: (now: Date) => LaterTime[];
  maxDays: number;
  onTime: (at: Date) => void;
}

/** A menu of times to come, with a field for another one. */
export function TimeMenu({ name, label, submit, times, maxDays, onTime }: TimeMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const choose = (at: Date): void => {
    menu.current?.removeAttribute('open');
    onTime(at);
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const typed = new FormData(event.target as HTMLFormElement).get('at');
    const at = new Date(typeof typed === 'string' ? typed : '');
    if (!Number.isNaN(at.getTime())) choose(at);
  };
  const now = new Date();
  return html`<details class="menu later ${name}" ref=${menu}>
    <summary class="icon-button" title=${label} aria-label=${label}><${Icon} name=${name} /></summary>
    <div class="menu-body">
      ${times(now).map(
        (one) =>
          html`<button type="button" onClick=${() => choose(one.at)}>
            ${t(one.label)} <span class="soft">${TIME.format(one.at)}</span>
          </button>`,
      )}
      <form onSubmit=${onSubmit}>
        <input
          name="at"
          type="datetime-local"
          aria-label=${t('later.time')}
          required
          min=${fieldTime(now)}
          max=${fieldTime(atHour(now, maxDays - 1, 0))}
        />
        <button class="small">${submit}</button>
      </form>
    </div>
  </details>`;
}
