import { signal } from '@preact/signals';
import { cleanMarkup } from './editor-html.ts';

/** Commands of the browser's own editor. It is not on the way to be replaced: no browser has anything else. */
type EditCommand =
  | 'bold'
  | 'createLink'
  | 'indent'
  | 'insertHTML'
  | 'insertOrderedList'
  | 'insertText'
  | 'insertUnorderedList'
  | 'italic'
  | 'outdent'
  | 'removeFormat'
  | 'underline'
  | 'unlink';

interface Editing {
  execCommand(name: EditCommand | 'defaultParagraphSeparator' | 'styleWithCSS', ui: false, value?: string): boolean;
}

const editing = document as Editing;

let field: HTMLElement | undefined;
/** The selection in the field, which a button or a file dialog takes away. */
let selected: Range | undefined;

/** Names of the elements around the cursor. */
export const aroundCursor = signal<ReadonlySet<string>>(new Set());

/** Fills a field with cleaned text and makes it editable. */
export function openEditor(element: HTMLElement, markup: string, focus: boolean): void {
  element.replaceChildren(document.importNode(cleanMarkup(markup), true));
  element.contentEditable = 'true';
  field = element;
  selected = undefined;
  document.addEventListener('selectionchange', followSelection);
  // Elements, not styles: a strict policy for content forbids styles in markup, and mail programs show elements alike.
  editing.execCommand('styleWithCSS', false, 'false');
  editing.execCommand('defaultParagraphSeparator', false, 'div');
  if (focus) toStart(element);
}

export function closeEditor(): void {
  document.removeEventListener('selectionchange', followSelection);
  field = undefined;
  selected = undefined;
}

/** True while formatted text is edited. */
export function isEditing(): boolean {
  return field !== undefined;
}

function toStart(element: HTMLElement): void {
  element.focus();
  getSelection()?.setPosition(element.firstElementChild ?? element, 0);
}

function followSelection(): void {
  const selection = getSelection();
  if (field === undefined || selection === null || !field.contains(selection.anchorNode)) return;
  selected = selection.getRangeAt(0).cloneRange();
  const names = new Set<string>();
  for (let node = selection.anchorNode; node !== null && node !== field; node = node.parentNode)
    names.add(node.nodeName);
  aroundCursor.value = names;
}

/** Runs a command where the cursor is, or was before a button had the focus. */
function run(command: EditCommand, value?: string): void {
  if (field === undefined) return;
  const range = selected;
  field.focus();
  if (range !== undefined) {
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
  }
  editing.execCommand(command, false, value);
  followSelection();
}

function insert(fragment: Node): void {
  const holder = document.implementation.createHTMLDocument('').createElement('div');
  holder.append(fragment);
  run('insertHTML', holder.innerHTML);
}

/** Changes of the text that is edited; each can be undone by the browser's own undo. */
export const editText = {
  run,
  /** Inserts text from elsewhere: cleaned, or plain. */
  paste(markup: string, text: string): void {
    if (markup !== '') insert(cleanMarkup(markup));
    else run('insertText', text);
  },
  /** Links the selected text; without any, inserts the address. */
  link(href: string): void {
    if (selected !== undefined && !selected.collapsed) return run('createLink', href);
    const link = document.createElement('a');
    link.href = href;
    link.textContent = href.replace(/^mailto:/, '');
    insert(link);
  },
  image(url: string, cid: string, name: string): void {
    const image = document.implementation.createHTMLDocument('').createElement('img');
    image.setAttribute('src', url);
    image.setAttribute('alt', name);
    image.dataset['cid'] = cid;
    insert(image);
  },
  /** Replaces the whole text. */
  replace(markup: string): void {
    field?.replaceChildren(document.importNode(cleanMarkup(markup), true));
  },
};

/** Raster images among files. */
export function imagesOf(files: FileList | readonly File[] | undefined): File[] {
  return [...(files ?? [])].filter(({ type }) => /^image\/(?:png|jpeg|gif|webp)$/.test(type));
}
