import { useEffect, useRef } from 'preact/hooks';
import { type BatchRun, batchRun, cancelBatches } from './batch-run.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** The progress of an action in batches, with a button that stops it. */
export function BatchBar() {
  const { value: run } = batchRun;
  return run === undefined ? null : html`<${BatchProgress} run=${run} />`;
}

function BatchProgress({ run: { label, done, total, isCancelled } }: { run: BatchRun }) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = bar.current;
    // The toolbar that began the action is gone, and the focus with it.
    if (document.activeElement === document.body) element?.querySelector('button')?.focus();
    return () => {
      if (element?.contains(document.activeElement) === true) document.querySelector<HTMLElement>('.rows')?.focus();
    };
  }, []);
  return html`<div class="notice batch" role="group" aria-label=${label} ref=${bar}>
    <progress max=${Math.max(1, total)} value=${done} aria-label=${label}></progress>
    <span>${isCancelled ? t('batch.stopping') : t('batch.progress', { action: label, done, total })}</span>
    <button type="button" aria-disabled=${isCancelled} onClick=${cancelBatches}>${t('button.stop')}</button>
  </div>`;
}
