// Where a view stands: its element, what is looked at, what was asked for in the address, and how to go elsewhere.

export interface SourceTold {
  number: number;
  path: string;
  name: string;
  kind: string;
  writer: string;
  format: string;
  error: string;
  facts: [string, string][];
  views: string[];
  entries: { name: string; kind: string }[];
  could_be: string[];
}

export interface Place {
  element: HTMLElement;
  source: SourceTold;
  sources: SourceTold[];
  given: URLSearchParams;
  go: (view: string, given?: Record<string, string>, source?: number) => void;
  /** Asks anew what is looked at, and goes to one of it. */
  reopen: (source: number, view: string, given?: Record<string, string>) => Promise<void>;
}
