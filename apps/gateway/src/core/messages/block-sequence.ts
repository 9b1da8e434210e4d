import { SIGNATURE, textBlock, thinkingBlock, toolUseBlock } from './messages-answer';
import type { Json } from './request-fault';

interface Block {
  readonly kind: 'thinking' | 'text' | 'tool';
  /** Position among the message's blocks once it is open. */
  index: number | null;
  id: string;
  name: string;
  /** What came before the block could open. */
  waiting: string;
  /** A tool's arguments as far as they were sent. */
  sent: string;
  /** Whether the arguments may be whole, by their end; what was parsed once in vain is not parsed again. */
  mayBeWhole: boolean;
  isClosed: boolean;
}

/**
 * Makes one block after the other of fragments that may interleave. A block closes when the next one begins; a tool's only once its
 * arguments are a whole object, and until then the fragments of later blocks wait. Nothing is lost or moved within a block.
 */
export class BlockSequence {
  private readonly tools = new Map<number, Block>();
  private readonly queue: Block[] = [];
  /** The first of the queue that is not closed. */
  private head = 0;
  private opened = 0;
  /** White space that no text block holds yet. One of nothing else is never opened. */
  private space = '';
  private events: Json[] = [];

  /** @param toolUseId for the n-th tool, where the engine gives none */
  constructor(private readonly toolUseId: (index: number) => string) {}

  get hasToolUse(): boolean {
    return this.tools.size > 0;
  }

  thinking(fragment: string): void {
    this.append('thinking', fragment);
  }

  text(fragment: string): void {
    if (this.queue.at(-1)?.kind === 'text') return this.append('text', fragment);
    this.space += fragment;
    // What was held before is white space.
    if (fragment.trim() === '') return;
    const text = this.space;
    this.space = '';
    this.append('text', text);
  }

  /** @throws RangeError for arguments that go on after they were whole and another block began */
  tool(index: number, fragment: { readonly id: string; readonly name: string; readonly arguments: string }): void {
    let block = this.tools.get(index);
    if (!block) {
      block = this.push('tool');
      this.tools.set(index, block);
    }
    // Both come once; an engine that repeats them must not double them.
    if (block.id === '') block.id = fragment.id;
    if (block.name === '') block.name = fragment.name;
    this.feed(block, fragment.arguments);
    this.advance(false);
  }

  /** The events since the last time. */
  take(): Json[] {
    const events = this.events;
    this.events = [];
    return events;
  }

  finish(): void {
    this.advance(true);
  }

  private append(kind: 'thinking' | 'text', fragment: string): void {
    if (fragment === '') return;
    const tail = this.queue.at(-1);
    this.feed(tail?.kind === kind ? tail : this.push(kind), fragment);
    this.advance(false);
  }

  private push(kind: Block['kind']): Block {
    const block: Block = {
      kind,
      index: null,
      id: '',
      name: '',
      waiting: '',
      sent: '',
      mayBeWhole: false,
      isClosed: false,
    };
    this.queue.push(block);
    return block;
  }

  private feed(block: Block, fragment: string): void {
    if (block.isClosed) {
      if (fragment.trim() !== '') throw new RangeError('the arguments of a tool call go on after their end');
    } else if (block.index === null) block.waiting += fragment;
    else this.send(block, fragment);
  }

  private advance(isOver: boolean): void {
    for (let head = this.queue[this.head]; head; head = this.queue[this.head]) {
      if (head.index === null) {
        if (head.kind === 'tool' && head.name === '' && !isOver) return;
        this.open(head);
      }
      const isFollowed = this.queue.length > this.head + 1;
      if (!isOver && !(isFollowed && (head.kind !== 'tool' || hasWholeArguments(head)))) return;
      this.close(head);
      this.head++;
    }
    // Not one by one: to shift a long queue takes its length.
    this.queue.length = this.head = 0;
  }

  private open(block: Block): void {
    const index = this.opened++;
    block.index = index;
    const content =
      block.kind === 'thinking'
        ? thinkingBlock('', '')
        : block.kind === 'text'
          ? textBlock('')
          : toolUseBlock(block.id || this.toolUseId(index), block.name, {});
    this.events.push({ type: 'content_block_start', index, content_block: content });
    if (index === 0) this.events.push({ type: 'ping' });
    this.send(block, block.waiting);
    block.waiting = '';
  }

  private send(block: Block, fragment: string): void {
    if (fragment === '') return;
    if (block.kind === 'thinking') return this.delta(block, { type: 'thinking_delta', thinking: fragment });
    if (block.kind === 'text') return this.delta(block, { type: 'text_delta', text: fragment });
    block.sent += fragment;
    const end = fragment.trimEnd();
    if (end !== '') block.mayBeWhole = end.endsWith('}');
    this.delta(block, { type: 'input_json_delta', partial_json: fragment });
  }

  private close(block: Block): void {
    block.isClosed = true;
    if (block.kind === 'thinking') this.delta(block, { type: 'signature_delta', signature: SIGNATURE });
    this.events.push({ type: 'content_block_stop', index: block.index });
  }

  private delta(block: Block, delta: Json): void {
    this.events.push({ type: 'content_block_delta', index: block.index, delta });
  }
}

function hasWholeArguments(block: Block): boolean {
  if (!block.mayBeWhole) return false;
  try {
    JSON.parse(block.sent);
    return true;
  } catch {
    block.mayBeWhole = false;
    return false;
  }
}
