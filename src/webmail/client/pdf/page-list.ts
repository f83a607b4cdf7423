import { type DrawnPage, MAX_PAGES } from '../pdf-messages.ts';

/** Asks for a page with this width in pixels. One at a time is asked for: what has left the view meanwhile is not drawn. */
type DrawPage = (page: number, width: number) => void;

/** The pages of a document below each other. A page is drawn when it comes near, and its pixels are freed when it is far. */
export class PageList {
  readonly #label: string;
  readonly #draw: DrawPage;
  readonly #main = document.querySelector('main') ?? document.body;
  readonly #watcher = new IntersectionObserver((entries) => this.#onMove(entries), { rootMargin: '100% 0px' });
  #waiting: number[] = [];
  #drawing = 0;

  constructor(label: string, draw: DrawPage) {
    this.#label = label;
    this.#draw = draw;
  }

  begin(pages: number, ratio: number): void {
    for (let page = 1; page <= Math.min(pages, MAX_PAGES); page += 1) {
      const section = document.createElement('section');
      const canvas = document.createElement('canvas');
      section.ariaLabel = this.#label.replace('{page}', String(page)).replace('{pages}', String(pages));
      canvas.ariaHidden = 'true';
      canvas.style.aspectRatio = String(1 / ratio);
      section.append(canvas, document.createElement('p'));
      this.#main.append(section);
      this.#watcher.observe(section);
    }
  }

  draw({ page, image, text }: DrawnPage): void {
    const section = this.#main.children[page - 1];
    const canvas = section?.querySelector('canvas');
    if (canvas instanceof HTMLCanvasElement) {
      Object.assign(canvas, { width: image.width, height: image.height });
      canvas.style.aspectRatio = `${image.width} / ${image.height}`;
      canvas.getContext('bitmaprenderer')?.transferFromImageBitmap(image);
    }
    section?.querySelector('p')?.replaceChildren(text);
    this.#drawing = 0;
    this.#next();
  }

  #onMove(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const page = [...this.#main.children].indexOf(target) + 1;
      this.#waiting = this.#waiting.filter((each) => each !== page);
      if (isIntersecting) this.#waiting.push(page);
      else target.querySelector('canvas')?.getContext('bitmaprenderer')?.transferFromImageBitmap(null);
    }
    this.#next();
  }

  #next(): void {
    const page = this.#drawing === 0 ? this.#waiting.shift() : undefined;
    if (page === undefined) return;
    this.#drawing = page;
    this.#draw(page, Math.ceil(this.#main.clientWidth * Math.min(2, devicePixelRatio)));
  }
}
