/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A boot sector that is a whole guest: it reads the disk that it came from through the BIOS, checks
 * what it gets, and says on the first serial port how it goes:
 *
 *	B	it has been started
 *	.	a round is done: sectors 1 to E2E_SECTORS were read and were right
 *	X	a read failed, or its data are wrong: it has ended
 *
 * The byte before the signature tells what follows a round. Each sector begins with its number,
 * XORed with E2E_MAGIC.
 */
#include "boot.h"

#define STACK		0x7c00
#define BUFFER		0x8000
#define SECTOR		512
#define AT_ONCE		8
#define READ_LBA	0x42	/* INT 13h */
#define UART		0x3f8
#define RESET_PORT	0xcf9
#define RESET		6

	.code16
	.globl	start
start:
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	$STACK, %sp
	movb	%dl, drive
	movb	$'B', %al
	call	say
round:
	movl	$1, lba
next:
	movb	drive, %dl
	movb	$READ_LBA, %ah
	movw	$packet, %si
	int	$0x13
	jc	bad
	movl	lba, %eax
	movw	$AT_ONCE, %cx
	movw	$BUFFER, %di
check:
	movl	%eax, %ebx
	xorl	$E2E_MAGIC, %ebx
	cmpl	%ebx, (%di)
	jne	bad
	notl	(%di)		/* the next read has to bring it again */
	incl	%eax
	addw	$SECTOR, %di
	loop	check
	movl	%eax, lba
	cmpl	$E2E_SECTORS, %eax
	jbe	next
	movb	$'.', %al
	call	say
	cmpb	$E2E_AGAIN, then
	je	round
	cmpb	$E2E_RESET, then
	je	reset
	movb	$E2E_GOOD, %al
	jmp	end
bad:
	movb	$'X', %al
	call	say
	movb	$E2E_BAD, %al
end:
	movw	$E2E_EXIT_PORT, %dx
	outb	%al, %dx
halt:
	hlt
	jmp	halt
reset:
	movw	$RESET_PORT, %dx
	movb	$RESET, %al
	outb	%al, %dx
	jmp	halt

say:
	movw	$UART, %dx
	outb	%al, %dx
	ret

	.balign	4
packet:
	.byte	16, 0
	.word	AT_ONCE
	.word	BUFFER, 0
lba:
	.quad	1
drive:
	.byte	0

	.org	E2E_THEN
then:
	.byte	E2E_ONCE
	.org	510
	.word	0xaa55
