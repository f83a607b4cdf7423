interface CanvasEntry {
  canvas: OffscreenCanvas | null;
  context: OffscreenCanvasRenderingContext2D | null;
}

/** Makes the canvases that PDF.js draws on, in a worker, which has no elements. */
export class WorkerCanvasFactory {
  create(width: number, height: number): CanvasEntry {
    const canvas = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
    return { canvas, context: canvas.getContext('2d', { willReadFrequently: true }) };
  }

  reset({ canvas }: CanvasEntry, width: number, height: number): void {
    if (canvas !== null) Object.assign(canvas, { width: Math.max(1, width), height: Math.max(1, height) });
  }

  destroy(entry: CanvasEntry): void {
    entry.canvas = null;
    entry.context = null;
  }
}

/** PDF.js applies transfer maps and masks by SVG filters, which need elements: pages are drawn without them. */
export class WithoutFilters {
  readonly addFilter = none;
  readonly addHCMFilter = none;
  readonly addAlphaFilter = none;
  readonly addLuminosityFilter = none;
  readonly addKnockoutFilter = none;
  readonly addHighlightHCMFilter = none;
  readonly addSelectionHCMFilter = none;
  readonly destroy = (): void => undefined;
}

const none = (): string => 'none';
