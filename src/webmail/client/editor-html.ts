import DOMPurify from 'dompurify';
import { parserWindow } from './safe-html.ts';

/** Elements of formatted text that web mail writes. No styles, no classes: what is sent is what every mail program shows. */
const TAGS =
  'a b blockquote br code div em h1 h2 h3 hr i img li ol p pre s strong sub sup table tbody td th thead tr u ul'.split(
    ' ',
  );
const ATTRIBUTES = ['alt', 'data-cid', 'data-signature', 'href', 'src', 'title'];
/** Images of the message itself have an address of this page; others are left out, as the reader's program would ask for them. */
const ADDRESSES = /^(?:https?:|mailto:|blob:)/i;

let inert: Window | undefined;

/** Prepares the document that formatted text is parsed in. Call it before the other functions. */
export async function prepareEditor(): Promise<void> {
  inert = await parserWindow();
}

/** Cleans formatted text that was typed, pasted, saved or received. Nothing of it has run or loaded. */
export function cleanMarkup(markup: string): DocumentFragment {
  const purifier = DOMPurify((inert ?? window) as never);
  purifier.addHook('afterSanitizeAttributes', (node) => {
    if ('tagName' in node) secureNode(node);
  });
  return purifier.sanitize(markup, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ADD_URI_SAFE_ATTR: ['data-cid', 'data-signature'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: ADDRESSES,
    // The text of a style sheet is not text of the message.
    FORBID_CONTENTS: ['style', 'script', 'title', 'noscript', 'template', 'iframe', 'svg', 'math', 'head', 'xmp'],
    RETURN_DOM_FRAGMENT: true,
  });
}

function secureNode(element: Element): void {
  if (element.tagName === 'IMG') {
    const isOwn = element.hasAttribute('data-cid') && (element.getAttribute('src') ?? '').startsWith('blob:');
    if (!isOwn) element.replaceWith(element.getAttribute('alt') ?? '');
  } else {
    element.removeAttribute('src');
    element.removeAttribute('data-cid');
  }
  if (/^blob:/i.test(element.getAttribute('href') ?? '')) element.removeAttribute('href');
}

/** Inline styles of quotes, as mail programs agree on. */
const QUOTE_STYLE = 'margin:0 0 0 .6em;padding-left:.8em;border-left:2px solid #ccc';

/** The HTML document that is sent for formatted text: clean, images by their Content-ID. RFC 2392. */
export function outgoingMarkup(markup: string): string {
  const root = documentOf(markup);
  for (const image of root.querySelectorAll('img')) {
    image.setAttribute('src', `cid:${image.getAttribute('data-cid') ?? ''}`);
    image.removeAttribute('data-cid');
    image.setAttribute('style', 'max-width:100%');
  }
  for (const quote of root.querySelectorAll('blockquote')) {
    quote.setAttribute('type', 'cite');
    quote.setAttribute('style', QUOTE_STYLE);
  }
  for (const signature of root.querySelectorAll('[data-signature]')) signature.removeAttribute('data-signature');
  return `<!doctype html>\n<html><head><meta charset="utf-8"></head><body>${root.innerHTML}</body></html>\n`;
}

/** The cleaned text in an element of the inert document. */
function documentOf(markup: string): HTMLElement {
  const fragment = cleanMarkup(markup);
  const root = (fragment.ownerDocument ?? document).createElement('div');
  root.append(fragment);
  return root;
}

/** Content-IDs of the images that formatted text shows. */
export function shownImages(markup: string): ReadonlySet<string> {
  return new Set([...documentOf(markup).querySelectorAll('img')].map((one) => one.getAttribute('data-cid') ?? ''));
}

/** Plain text in formatted form: lines, and quotes that begin with ">". */
export function markupOfText(text: string): string {
  const { document: page } = inert ?? window;
  const root = page.createElement('div');
  let [into, depth] = [root as HTMLElement, 0];
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const [marks = ''] = /^(?:> ?){0,10}/.exec(line) ?? [];
    const wanted = marks.replaceAll(' ', '').length;
    for (; depth < wanted; depth += 1) into = into.appendChild(page.createElement('blockquote'));
    for (; depth > wanted; depth -= 1) into = into.parentElement ?? root;
    const block = into.appendChild(page.createElement('div'));
    const rest = line.slice(marks.length);
    if (rest === '') block.append(page.createElement('br'));
    else block.textContent = rest;
  }
  return root.innerHTML;
}
