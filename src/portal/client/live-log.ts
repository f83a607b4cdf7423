import { localizeTimes } from './times.ts';
import { languageAround, wordsAround } from './words.ts';

interface ServerLogLine {
  at: string;
  level: string;
  text: string;
  fields: string;
}

const MAX_ROWS = 500;
const LOOKS: Readonly<Record<string, string>> = { warn: 'warn', error: 'bad' };

/** Adds new lines to the page of the log, until it is paused. */
export function followLog(): void {
  const list = document.querySelector<HTMLElement>('[data-live-log]');
  const button = document.querySelector<HTMLButtonElement>('[data-log-pause]');
  const status = document.querySelector<HTMLElement>('[data-log-status]');
  const path = list?.dataset['liveLog'];
  if (list === null || button === null || status === null || path === undefined) return;
  const words = wordsAround(list);
  let source: EventSource | undefined;
  const start = (): void => {
    source = new EventSource(path);
    source.addEventListener('open', () => (status.textContent = words.live));
    source.addEventListener('error', () => (status.textContent = words.connecting));
    source.addEventListener('lines', (event: MessageEvent<string>) => addLines(list, event.data));
    button.textContent = words.pause;
  };
  const stop = (): void => {
    source?.close();
    source = undefined;
    status.textContent = words.paused;
    button.textContent = words.resume;
  };
  button.hidden = false;
  button.addEventListener('click', () => (source === undefined ? start() : stop()));
  start();
}

function addLines(list: HTMLElement, data: string): void {
  const { lines, skipped } = JSON.parse(data) as { lines: ServerLogLine[]; skipped: number };
  if (skipped > 0) list.prepend(element('div', 'log-line soft', wordsAround(list).linesSkipped(skipped)));
  for (const line of lines) list.prepend(rowOf(line, languageAround(list)));
  localizeTimes(list);
  while (list.childElementCount > MAX_ROWS) list.lastElementChild?.remove();
}

/** The same as the server renders. Text of peers is text only. */
function rowOf({ at, level, text, fields }: ServerLogLine, language: string): HTMLElement {
  const row = element('div', 'log-line');
  const time = document.createElement('time');
  time.dateTime = at;
  time.dataset['local'] = 'seconds';
  const message = element('span', '', text);
  if (language !== 'en') message.lang = 'en';
  row.append(time, ' ', element('span', `tag ${LOOKS[level] ?? ''}`, level), ' ', message, ' ');
  if (fields !== '') row.append(element('code', '', fields));
  return row;
}

function element(name: string, look: string, text = ''): HTMLElement {
  const made = document.createElement(name);
  if (look !== '') made.className = look;
  made.textContent = text;
  return made;
}
