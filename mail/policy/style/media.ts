/** CSS pixels of the window in which a mail is thought to be read. */
const WINDOW = 1000;
const EM = 16;

/** Whether a rule for these media is for a screen of usual size and colors; conditions that are not known here do not hold. */
export function isForScreen(media: string): boolean {
  const queries = media.toLowerCase().trim().slice(0, 1000).split(',');
  return queries.some((query) => query.trim() === '' || holds(query.trim()));
}

function holds(query: string): boolean {
  const conditions = query.split(/\band\b/).map((one) => one.trim().replace(/^only\s+/, ''));
  return conditions.every((one) => one === 'screen' || one === 'all' || ofWindow(one));
}

function ofWindow(condition: string): boolean {
  const found = /^\(\s*(min|max)-(?:device-)?width\s*:\s*([\d.]{1,8})(px|em|rem)?\s*\)$/.exec(condition);
  if (found === null) return false;
  const [, side, number, unit] = found;
  const width = Number(number) * (unit === undefined || unit === 'px' ? 1 : EM);
  return side === 'min' ? WINDOW >= width : WINDOW <= width;
}
