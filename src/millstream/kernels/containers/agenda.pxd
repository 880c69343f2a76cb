"""Notes of what falls due at which tick.

A lane is a queue in chunks: notes enter in tick order and leave from the front, both in constant time. A note that would
break a lane's order, or has none (lane -1), goes to a four-ary heap. `next_tick` is the earliest tick of all, FOREVER when
there is no note: one comparison tells that nothing is due. Notes are never taken back; what they speak of may have changed
meanwhile, so whoever pops one looks again.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from millstream.kernels.containers.memory cimport block_free, block_new, block_resize

cdef enum:
    CHUNK_NOTES = 255
    LANES = 64
    SOON = 8                    # notes ahead

cdef extern from *:
    """
    #ifndef MILLSTREAM_TICKS
    #define MILLSTREAM_TICKS
    #define MILLSTREAM_FOREVER ((int64_t)1 << 62)
    #define MILLSTREAM_NEVER INT64_MIN
    #endif
    """
    const int64_t FOREVER "MILLSTREAM_FOREVER"
    const int64_t NEVER "MILLSTREAM_NEVER"     # the end of what is not there: before every tick

cdef struct Note:
    int64_t tick
    int32_t number
    int32_t kind


cdef struct Chunk:
    Chunk* next
    int64_t unused
    Note notes[CHUNK_NOTES]


cdef struct Queue:
    Chunk* head
    Chunk* tail
    int32_t first               # index of the front note in head
    int32_t last                # index after the back note in tail
    int64_t newest


cdef struct Agenda:
    Queue lanes[LANES]
    int lane_count
    Chunk* spare                # at most one
    Note* heap
    int64_t heap_size
    int64_t heap_capacity
    int64_t chunk_count
    int64_t size
    int64_t next_tick
    int next_lane               # -1: the heap


cdef inline void agenda_open(Agenda* agenda, int lane_count) noexcept nogil:
    """All fields are zero before."""
    agenda.lane_count = lane_count
    agenda.next_tick = FOREVER
    agenda.next_lane = -1


cdef inline void agenda_close(Agenda* agenda) noexcept nogil:
    cdef int lane
    cdef Chunk* chunk
    cdef Chunk* following
    for lane in range(agenda.lane_count):
        chunk = agenda.lanes[lane].head
        while chunk != NULL:
            following = chunk.next
            free(chunk)
            chunk = following
        agenda.lanes[lane].head = NULL
    free(agenda.spare)
    agenda.spare = NULL
    block_free(agenda.heap, agenda.heap_capacity * sizeof(Note))
    agenda.heap = NULL


cdef inline int64_t agenda_bytes(Agenda* agenda) noexcept nogil:
    return agenda.chunk_count * sizeof(Chunk) + agenda.heap_capacity * sizeof(Note)


cdef inline void heap_push(Agenda* agenda, Note note) noexcept nogil:
    cdef int64_t at = agenda.heap_size, parent, capacity
    if at == agenda.heap_capacity:
        capacity = max(64, at + at // 2)
        agenda.heap = <Note*>block_resize(agenda.heap, at * sizeof(Note), capacity * sizeof(Note))
        agenda.heap_capacity = capacity
    agenda.heap_size = at + 1
    while at > 0:
        parent = (at - 1) >> 2
        if agenda.heap[parent].tick <= note.tick:
            break
        agenda.heap[at] = agenda.heap[parent]
        at = parent
    agenda.heap[at] = note


cdef inline Note heap_pop(Agenda* agenda) noexcept nogil:
    cdef Note top = agenda.heap[0]
    cdef Note moved
    cdef int64_t at = 0, child, least, end
    agenda.heap_size -= 1
    end = agenda.heap_size
    moved = agenda.heap[end]
    while True:
        child = 4 * at + 1
        if child >= end:
            break
        least = child
        for child in range(child + 1, min(child + 4, end)):
            if agenda.heap[child].tick < agenda.heap[least].tick:
                least = child
        if agenda.heap[least].tick >= moved.tick:
            break
        agenda.heap[at] = agenda.heap[least]
        at = least
    agenda.heap[at] = moved
    return top


cdef inline void queue_push(Agenda* agenda, Queue* queue, Note note) noexcept nogil:
    cdef Chunk* chunk
    if queue.head == NULL or queue.last == CHUNK_NOTES:
        chunk = agenda.spare
        agenda.spare = NULL
        if chunk == NULL:
            chunk = <Chunk*>block_new(sizeof(Chunk))
            agenda.chunk_count += 1
        chunk.next = NULL
        if queue.head == NULL:
            queue.head = chunk
            queue.first = 0
        else:
            queue.tail.next = chunk
        queue.tail = chunk
        queue.last = 0
    queue.tail.notes[queue.last] = note
    queue.last += 1
    queue.newest = note.tick


cdef inline Note queue_pop(Agenda* agenda, Queue* queue) noexcept nogil:
    cdef Chunk* chunk = queue.head
    cdef Note note = chunk.notes[queue.first]
    queue.first += 1
    if queue.first == (queue.last if chunk == queue.tail else CHUNK_NOTES):
        queue.head = chunk.next
        queue.first = 0
        if agenda.spare == NULL:
            agenda.spare = chunk
        else:
            free(chunk)
            agenda.chunk_count -= 1
    return note


cdef inline const Note* agenda_soon(const Agenda* agenda) noexcept nogil:
    """A note some places behind the earliest one, for who fetches what it speaks of; NULL if none is at hand."""
    cdef const Queue* queue
    cdef int32_t place
    if agenda.next_lane < 0:
        return NULL
    queue = &agenda.lanes[agenda.next_lane]
    place = queue.first + SOON
    if place >= (queue.last if queue.head == queue.tail else CHUNK_NOTES):
        return NULL
    return &queue.head.notes[place]


cdef inline void agenda_put(Agenda* agenda, int lane, Note note) noexcept nogil:
    agenda.size += 1
    if lane >= 0 and (agenda.lanes[lane].head == NULL or agenda.lanes[lane].newest <= note.tick):
        queue_push(agenda, &agenda.lanes[lane], note)
    else:
        heap_push(agenda, note)
        lane = -1
    if note.tick < agenda.next_tick:
        agenda.next_tick = note.tick
        agenda.next_lane = lane


cdef inline Note agenda_pop(Agenda* agenda) noexcept nogil:
    """The earliest note; there is one."""
    cdef Note note
    cdef Queue* queue
    cdef int lane
    if agenda.next_lane < 0:
        note = heap_pop(agenda)
    else:
        note = queue_pop(agenda, &agenda.lanes[agenda.next_lane])
    agenda.size -= 1
    agenda.next_tick = FOREVER
    agenda.next_lane = -1
    if agenda.heap_size > 0:
        agenda.next_tick = agenda.heap[0].tick
    for lane in range(agenda.lane_count):
        queue = &agenda.lanes[lane]
        if queue.head != NULL and queue.head.notes[queue.first].tick < agenda.next_tick:
            agenda.next_tick = queue.head.notes[queue.first].tick
            agenda.next_lane = lane
    return note
