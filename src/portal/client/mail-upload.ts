import { followSection } from './live-section.ts';
import { mailFileProblem } from './mail-file.ts';
import { type UploadTarget, sendFile } from './send-file.ts';
import { ServerSentence, type UploadWords, uploadWordsAround } from './upload-words.ts';
import { languageAround } from './words.ts';

/** Shows the form that uploads a file of mail, and lets it show the progress in place. */
export function uploadMail(): void {
  const box = document.querySelector<HTMLElement>('[data-mail-upload]');
  const form = box?.querySelector('form');
  if (box === null || form == null) return;
  const upload = new MailUpload(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void upload.run();
  });
  box.hidden = false;
}

/** An upload with the fields of the form that it began with: the same form goes on with it. */
interface ChosenUpload extends UploadTarget {
  fields: string;
}

/** The upload of one form. The import itself is shown by the list of the page. */
class MailUpload {
  readonly #form: HTMLFormElement;
  readonly #file: HTMLInputElement;
  readonly #bar: HTMLProgressElement;
  readonly #status: HTMLElement;
  readonly #alert: HTMLElement;
  readonly #submit: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #words: UploadWords;
  #unfinished: ChosenUpload | undefined;
  #stopping = new AbortController();
  #isRunning = false;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    this.#words = uploadWordsAround(form);
    this.#file = part(form, 'input[type="file"]');
    this.#bar = part(form, 'progress');
    this.#status = part(form, '[role="status"]');
    this.#alert = part(form, '[role="alert"]');
    this.#submit = part(form, 'button:not([type="button"])');
    this.#stop = part(form, '[data-stop]');
    this.#stop.addEventListener('click', () => this.#stopping.abort());
    addEventListener('beforeunload', (event) => {
      if (this.#isRunning) event.preventDefault();
    });
  }

  async run(): Promise<void> {
    const file = this.#file.files?.[0];
    if (file === undefined || this.#isRunning) return;
    this.#begin();
    try {
      const problem = await mailFileProblem(file, this.#words);
      if (problem !== undefined) throw new Error(problem);
      const target = await this.#targetFor(file);
      followImports();
      const { signal } = this.#stopping;
      await sendFile(target, { onProgress: (done) => this.#show(file, done), signal, words: this.#words });
      this.#unfinished = undefined;
      this.#file.value = '';
      this.#status.textContent = this.#words.uploaded(file.name);
      followImports();
    } catch (error) {
      this.#status.textContent = '';
      this.#warn(this.#stopping.signal.aborted ? new Error(this.#words.stopped) : (error as Error));
    } finally {
      this.#end();
    }
  }

  /** Shows an error. A sentence of the server in another language than the page is marked as such. */
  #warn(error: Error): void {
    const around = languageAround(this.#form);
    const language = error instanceof ServerSentence ? error.language : around;
    this.#alert.textContent = error.message;
    if (language === around) this.#alert.removeAttribute('lang');
    else this.#alert.lang = language;
  }

  /** The upload that was interrupted, if the form has the same; else a new one. */
  async #targetFor(file: File): Promise<ChosenUpload> {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(this.#form)) if (typeof value === 'string') body.append(name, value);
    body.append('fileName', file.name);
    const fields = body.toString();
    const before = this.#unfinished;
    if (before?.file === file && before.fields === fields && !before.isLost) return before;
    this.#unfinished = { file, fields, url: await createUpload(body, this.#words), sent: 0, isLost: false };
    return this.#unfinished;
  }

  #begin(): void {
    this.#isRunning = true;
    this.#stopping = new AbortController();
    this.#alert.textContent = '';
    this.#status.textContent = this.#words.preparing;
    this.#submit.disabled = true;
    this.#bar.hidden = this.#stop.hidden = false;
    this.#bar.value = 0;
  }

  #end(): void {
    this.#isRunning = false;
    this.#submit.disabled = false;
    this.#bar.hidden = this.#stop.hidden = true;
  }

  /** The bar moves with each packet; the text, which screen readers speak, with each tenth. */
  #show(file: File, done: number): void {
    const percent = Math.floor((done / file.size) * 100);
    this.#bar.value = percent;
    const text = this.#words.uploading(
      file.name,
      percent - (percent % 10),
      sizeOf(file.size, languageAround(this.#form)),
    );
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }
}

function part<E extends Element>(form: HTMLFormElement, selector: string): E {
  const found = form.querySelector<E>(selector);
  if (found === null) throw new Error(`the form of the upload has no ${selector}`);
  return found;
}

/** Creates an upload as the form does without this script, and reads its URL, or the refusal, from the page that is the answer. */
async function createUpload(body: URLSearchParams, words: UploadWords): Promise<string> {
  const response = await fetch(location.pathname, { method: 'POST', body }).catch(() => undefined);
  if (response === undefined) throw new Error(words.unreachable);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const url = page.querySelector('.secret output')?.textContent;
  if (url != null && url !== '') {
    const { pathname, search } = new URL(url, location.href);
    return `${pathname}${search}`;
  }
  const refusal = page.querySelector('[role="alert"] p');
  throw refusal === null
    ? new Error(words.notCreated)
    : new ServerSentence(refusal.textContent, languageAround(refusal));
}

function followImports(): void {
  const section = document.getElementById('imports');
  if (section !== null) followSection(section);
}

function sizeOf(octets: number, language: string): string {
  const [unit, step] = octets >= 1e9 ? ['GB', 1e9] : octets >= 1e6 ? ['MB', 1e6] : ['KB', 1e3];
  const digits = octets / step < 10 ? 1 : 0;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return `${new Intl.NumberFormat(language, format).format(octets / step)} ${unit}`;
}
