/** Elements that begin a line of their own. */
const BLOCKS = /^(?:BLOCKQUOTE|DIV|H[1-3]|HR|LI|OL|P|PRE|TABLE|TBODY|TD|TH|THEAD|TR|UL)$/;
/** Elements that are followed by an empty line. */
const SPACED = /^(?:P|H[1-3])$/;
const MAX_DEPTH = 60;

/** Plain text of formatted text, for the text part of a message: lists, quotes and links as people type them. */
export function plainTextOf(root: Node): string {
  return linesOf(root, 0)
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

/** Lines of an element's content. The last one of inline content stays open for what follows. */
function linesOf(parent: Node, depth: number): string[] {
  const lines: string[] = [];
  let open = false;
  let item = 0;
  if (depth > MAX_DEPTH) return [parent.textContent ?? ''];
  for (const node of parent.childNodes) {
    const name = node.nodeName;
    if (BLOCKS.test(name)) {
      if (name === 'LI') item += 1;
      lines.push(...blockLines(node, name, depth, item));
      open = false;
    } else if (name === 'BR') {
      if (!open) lines.push('');
      open = false;
    } else {
      const [first = '', ...rest] = inlineLines(node, depth);
      if (open) lines.push(`${lines.pop() ?? ''}${first}`, ...rest);
      else lines.push(first, ...rest);
      open = true;
    }
  }
  return lines;
}

function blockLines(node: Node, name: string, depth: number, item: number): string[] {
  if (name === 'HR') return ['---'];
  const inner = name === 'PRE' ? (node.textContent ?? '').split('\n') : linesOf(node, depth + 1);
  if (name === 'BLOCKQUOTE') return inner.map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`));
  if (name === 'LI') {
    const mark = node.parentNode?.nodeName === 'OL' ? `${item}. ` : '- ';
    return inner.map((line, at) => `${at === 0 ? mark : ' '.repeat(mark.length)}${line}`);
  }
  if (SPACED.test(name)) return [...inner, ''];
  return (name === 'UL' || name === 'OL') && depth === 0 ? ['', ...inner, ''] : inner;
}

function inlineLines(node: Node, depth: number): string[] {
  if (node.nodeName === '#text')
    return [(node.textContent ?? '').replaceAll(/[\u{200b}\u{feff}]/gu, '').replaceAll(/[ \t\n\u{a0}]+/gu, ' ')];
  if (node.nodeName === 'IMG') return [`[${(node as Element).getAttribute('alt') || 'image'}]`];
  const lines = linesOf(node, depth + 1);
  const href = node.nodeName === 'A' ? ((node as Element).getAttribute('href') ?? '') : '';
  const text = lines.join(' ').trim();
  if (href === '' || href === text || href === `mailto:${text}`) return lines;
  return [...lines.slice(0, -1), `${lines.at(-1) ?? ''} <${href}>`];
}
