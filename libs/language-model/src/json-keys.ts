/**
 * A key that stands twice in one object of a JSON text, at any depth, or null. `JSON.parse` keeps the last of two in silence, other
 * readers the first. The text must be valid JSON.
 */
export function repeatedKey(json: string): string | null {
  // The keys of each object that is open; null for a list.
  const open: (Set<string> | null)[] = [];
  let isKey = false;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case '{':
        open.push(new Set());
        isKey = true;
        break;
      case '[':
        open.push(null);
        isKey = false;
        break;
      case '}':
      case ']':
        open.pop();
        isKey = false;
        break;
      case ',':
        isKey = open.at(-1) != null;
        break;
      case ':':
        isKey = false;
        break;
      case '"': {
        const end = endOfString(json, i);
        const keys = open.at(-1);
        if (isKey && keys) {
          const key = JSON.parse(json.slice(i, end + 1)) as string;
          if (keys.has(key)) return key;
          keys.add(key);
        }
        i = end;
      }
    }
  }
  return null;
}

function endOfString(json: string, start: number): number {
  let end = start + 1;
  while (json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
  return end;
}
