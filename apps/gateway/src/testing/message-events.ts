type Json = Record<string, unknown>;

/** Reads the events of a streamed message as a strict client would: every event in its place, or it throws. */
export function readMessage(text: string): { readonly events: Json[]; readonly message: Json } {
  const events = text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [first, second, ...rest] = block.split('\n');
      const event = JSON.parse(second!.replace(/^data: /, '')) as Json;
      if (first !== `event: ${String(event['type'])}` || rest.length > 0) throw new Error(`no event: ${block}`);
      return event;
    });
  let message: Json | null = null;
  const blocks: Json[] = [];
  let open: Json | null = null;
  let input = '';
  let isOver = false;
  const expect = (isRight: boolean, event: Json): void => {
    if (!isRight || isOver) throw new Error(`${JSON.stringify(event)} out of order`);
  };
  for (const event of events) {
    switch (event['type']) {
      case 'message_start':
        expect(message === null, event);
        message = { ...(event['message'] as Json), content: blocks };
        break;
      case 'ping':
        expect(message !== null, event);
        break;
      case 'content_block_start':
        expect(message !== null && open === null && event['index'] === blocks.length, event);
        open = { ...(event['content_block'] as Json) };
        blocks.push(open);
        input = '';
        break;
      case 'content_block_delta': {
        expect(open !== null && event['index'] === blocks.length - 1, event);
        const delta = event['delta'] as Json;
        const [, field] = String(delta['type']).match(/^(text|thinking|signature)_delta$/) ?? [];
        if (field) open![field] = String(open![field]) + String(delta[field]);
        else input += String(delta['partial_json']);
        break;
      }
      case 'content_block_stop':
        expect(open !== null && event['index'] === blocks.length - 1, event);
        if (input !== '') open!['input'] = parsed(input);
        open = null;
        break;
      case 'message_delta':
        expect(message !== null && open === null && message['stop_reason'] === null, event);
        Object.assign(message!, event['delta'], {
          usage: { ...(message!['usage'] as Json), ...(event['usage'] as Json) },
        });
        break;
      case 'message_stop':
        expect(message?.['stop_reason'] != null, event);
        isOver = true;
        break;
      default:
        throw new Error(`unknown event ${JSON.stringify(event)}`);
    }
  }
  if (!message || !isOver) throw new Error('the message is not complete');
  return { events, message };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
