import { laterTimes } from './later-times.ts';
import { TimeMenu } from './time-menu.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** The server holds a message for at most 30 days. */
const MAX_DAYS = 30;

/** A menu of times at which the message is sent. */
export function SendLater({ onTime }: { onTime: (at: Date) => void }) {
  return html`<${TimeMenu}
    name="clock"
    label=${t('compose.send-later')}
    submit=${t('button.schedule')}
    times=${laterTimes}
    maxDays=${MAX_DAYS}
    onTime=${onTime}
  />`;
}
