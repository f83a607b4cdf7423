const [SMALL, LARGE] = [2_000, 16_000];
/** ms of CPU below which a run is not measured: an expression whose time grows by the square takes more on {@link LARGE}. */
const NOTICEABLE_MS = 10;
/** Quotient of times for eight times the input: 8 is linear, 64 the square. */
const MAX_RATIO = 20;
const TRIES = 5;
/** ms of CPU above which one try is enough: other work of the machine changes it little. */
const CLEAR_MS = 100;
const GENERIC = [
  'a',
  'A',
  '0',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '-',
  '.',
  '/',
  '"',
  '<',
  '(',
  '=',
  '@',
  '_',
  'a.',
  'a ',
  '\u3042',
];

function timeOf(expression: RegExp, text: string): number {
  const before = process.cpuUsage();
  expression.lastIndex = 0;
  if (expression.global) text.replace(expression, '');
  else expression.test(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Repeated units: common ones, and the literal characters of the expression alone and in pairs. */
function unitsOf(source: string): string[] {
  const own = [...new Set(source.replace(/\\[a-zA-Z]/g, '').replace(/[\\^$*+?.()|[\]{}]/g, ''))].slice(0, 12);
  return [...new Set([...GENERIC, ...own, ...own.slice(1).map((one, i) => (own[i] ?? '') + one)])];
}

/** Returns a text whose repetitions take an expression more than linear time, or undefined. */
export function worstInput(expression: RegExp): string | undefined {
  for (const unit of unitsOf(expression.source)) {
    for (const tail of ['', '\u0001!']) {
      const input = (size: number): string => unit.repeat(size / unit.length) + tail;
      const first = timeOf(expression, input(LARGE));
      if (first < NOTICEABLE_MS) continue;
      const least = (size: number): number =>
        Math.min(...Array.from({ length: TRIES }, () => timeOf(expression, input(size))));
      const [short, long] = [least(SMALL), first > CLEAR_MS ? first : least(LARGE)];
      if (long >= NOTICEABLE_MS && long / short > MAX_RATIO) return unit;
    }
  }
  return undefined;
}
