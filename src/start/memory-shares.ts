const MB = 1024 * 1024;

/** Parts of the memory of the box. Heaps are maxima; bin/mailstead sets that of the main thread. */
export interface MemoryShares {
  /** Octets of bodies that are read and of answers that wait for their readers. */
  clientOctets: number;
  /** Heaps of threads, MB; two threads read texts. */
  readerHeapMb: number;
  filterHeapMb: number;
  textHeapMb: number;
  /** Memory of the process that reads a PDF, MB. */
  documentMb: number;
  /** Imports at once: each holds a message of another server, and the list of its folders. */
  imports: number;
}

/** Divides the memory of the box, in MB. Main has two fifths; the rest is for buffers, the page cache and the system. */
export function memoryShares(memoryMb: number): MemoryShares {
  return {
    clientOctets: Math.floor(memoryMb / 6) * MB,
    readerHeapMb: within(memoryMb / 8, 64, 512),
    filterHeapMb: within(memoryMb / 5, 128, 256),
    textHeapMb: within(memoryMb / 8, 96, 192),
    documentMb: within(memoryMb / 4, 256, 512),
    imports: within(memoryMb / 512, 1, 4),
  };
}

function within(value: number, least: number, most: number): number {
  return Math.floor(Math.min(most, Math.max(least, value)));
}
