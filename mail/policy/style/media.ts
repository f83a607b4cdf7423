/** Assumed window width, CSS pixels. */
const WINDOW = 1000;
const EM = 16;

/** True if a media query matches a common screen; unknown conditions do not match. */
export function isForScreen(media: string): boolean {
  const queries = media.toLowerCase().trim().slice(0, 1000).split(',');
  return queries.some((query) => query.trim() === '' || matchesQuery(query.trim()));
}

function matchesQuery(query: string): boolean {
  const conditions = query.split(/\band\b/).map((one) => one.trim().replace(/^only\s+/, ''));
  return conditions.every((one) => one === 'screen' || one === 'all' || matchesWidth(one));
}

function matchesWidth(condition: string): boolean {
  const found = /^\(\s*(min|max)-(?:device-)?width\s*:\s*([\d.]{1,8})(px|em|rem)?\s*\)$/.exec(condition);
  if (found === null) return false;
  const [, side, number, unit] = found;
  const width = Number(number) * (unit === undefined || unit === 'px' ? 1 : EM);
  return side === 'min' ? WINDOW >= width : WINDOW <= width;
}
