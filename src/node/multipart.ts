/** A form as it goes over the wire. Its length is known before it is sent; files are read meanwhile. */
export interface Multipart {
  readonly contentType: string;
  readonly length: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Encodes a form as `fetch` does, without a copy of its files. */
export function multipartOf(form: FormData): Multipart {
  const boundary = `----postreel-${crypto.randomUUID()}`;
  const parts: (Uint8Array | Blob)[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(lines(name))}"`;
    if (typeof value === 'string') {
      parts.push(bytesOf(`${head}\r\n\r\n${lines(value)}\r\n`));
    } else {
      const type = value.type === '' ? 'application/octet-stream' : value.type;
      const file = `; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
      parts.push(bytesOf(head + file), value, bytesOf('\r\n'));
    }
  }
  parts.push(bytesOf(`--${boundary}--\r\n`));
  const length = parts.reduce((sum, part) => sum + sizeOf(part), 0);
  return { contentType: `multipart/form-data; boundary=${boundary}`, length, body: inOrder(parts) };
}

async function* inOrder(parts: readonly (Uint8Array | Blob)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Blob) {
      yield* part.stream();
    } else {
      yield part;
    }
  }
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function sizeOf(part: Uint8Array | Blob): number {
  return part instanceof Blob ? part.size : part.length;
}

// As the HTML standard has it.
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

function lines(text: string): string {
  return text.replaceAll(/\r\n?|\n/g, '\r\n');
}
